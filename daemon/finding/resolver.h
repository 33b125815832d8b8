// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/finding/targets.h"
#include "daemon/model/probe.h"
#include "daemon/model/setting.h"
#include "daemon/object/file_reader.h"

namespace tracectl {

// The probes of one setting in one file and for one filter.
struct Resolved {
  ObjectPtr object;
  std::shared_ptr<const Process> process;            // the only one, held; or none
  bool unmapped = false;                             // which does not map the object yet
  Follow follow = Follow::none;                      // of that process
  std::optional<std::string> executable;             // every process that runs it
  std::shared_ptr<const std::vector<Probe>> probes;  // shared with later resolutions
  std::optional<std::string> cgroup = {};            // every process in it

  // The process that a link of its own is for.
  const Process* filter() const { return follow == Follow::none ? process.get() : nullptr; }
};

struct Resolution {
  std::vector<Resolved> parts;
  std::vector<Refusal> refused;
  std::vector<std::string> notes;
  std::vector<std::shared_ptr<const Process>> awaiting = {};  // as in TargetFiles

  size_t probe_count() const;
  size_t site_count() const;
};

// What was found in files. What staging has found the commit need not look for again.
struct FoundMatch {
  ObjectPtr object;  // one state of a file
  Question question;
  std::shared_ptr<const ProbeMatch> match;
};

// A pattern that a request has had resolved.
struct ResolvedBefore {
  Question question;
  Target target;
  bool awaits = false;
  Result<Resolution> resolution;
  MatchCount count;  // of the request behind it
};

// What one request has had of files so far: where it has to wait for a file it is asked again later, and
// then it shall not wait for these again.
struct Learned {
  std::vector<ObjectPtr> objects;
  std::vector<FoundMatch> matches;
  // It is made again when others had their turn. What it resolved, in its order, where it does so in slices.
  bool in_slices = false;
  std::map<size_t, ResolvedBefore> resolved;  // by its place
};

// Pattern to sites. Fails where nothing matches, saying where was looked; what matches and cannot
// be armed is in `refused`.
class Resolver {
 public:
  // `most_of_user`: sites that match what one request asks for, of one who may not trace every process.
  Resolver(Reading& reading, size_t most_of_user)
      : most_of_user_(most_of_user), reading_(reading), objects_(reading) {}

  // What matches from now on is one request's, and counted as such.
  void begin_count() { count_ = {}; }
  size_t matches() const { return count_.matches(); }
  MatchBounds bounds_of(const Access& access) const;

  // With `returns` for calls that are followed until they return; with `below` of the functions that it
  // makes of the pattern's.
  Result<Resolution> resolve(const Pattern& pattern, const Target& target, const Access& access,
                             std::optional<Returns> returns = std::nullopt,
                             const Below* below = nullptr, bool awaits = false);

  // The file of a target under that path.
  Result<ObjectPtr> open(Fd fd, const std::string& path) {
    return objects_.open(std::move(fd), path);
  }

  // Files read, and what was found in them, stay known for the next resolution until this is called.
  void forget_files() {
    matches_.clear();
    objects_.forget_all();
    reading_.forget_files();
  }

  // A request begins, or is made again with what it has learnt before.
  void begin(std::shared_ptr<Learned> learned);
  // Whether an answer since then is not the last word, as files are still being read, or the slice was over.
  Status check_all_read() const;
  // What the request resolves from now on may be in slices, where it is made again for what is left: it has changed
  // nothing yet.
  void begin_slice();
  // What it still resolves it does at once. Whether a slice was over before the request had all.
  bool end_slice();

 private:
  Result<std::shared_ptr<const ProbeMatch>> find(const ObjectPtr& object, const Pattern& pattern,
                                                 std::optional<Returns> returns, const Below* below,
                                                 const MatchBounds& most);
  const ResolvedBefore* resolved_before(size_t place, const Question& question,
                                        const Target& target, bool awaits) const;

  std::shared_ptr<const ProbeMatch> known_match(const ObjectPtr& object, const Question& question);
  Result<Resolution> resolve_files(const Pattern& pattern, const Target& target,
                                   const Access& access, std::optional<Returns> returns,
                                   const Below* below, bool awaits);

  static constexpr size_t kMostKept = 8;
  std::list<FoundMatch> matches_;  // last used first
  std::shared_ptr<Learned> learned_;
  size_t resolved_ = 0;        // patterns of the request, this time
  bool resolved_any_ = false;  // that was not resolved before
  uint64_t slice_end_ns_ = 0;  // 0: there is none
  bool slice_is_over_ = false;
  MatchCount count_;
  size_t most_of_user_;

  Reading& reading_;
  Objects objects_;
};

// For one who asks. Both are borrowed. What is mapped later is awaited of what users have chosen themselves.
struct ResolverFor {
  Resolver& resolver;
  const Access& access;

  Result<Resolution> resolve(const Pattern& pattern, const Target& target,
                             std::optional<Returns> returns, const Below* below,
                             bool awaits) const {
    return resolver.resolve(pattern, target, access, returns, below, awaits);
  }
  void begin_count() const { resolver.begin_count(); }
  Status check_all_read() const { return resolver.check_all_read(); }
};

}  // namespace tracectl
