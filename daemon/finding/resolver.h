// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
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
  std::shared_ptr<const Process> process;  // the only process, held; or null
  bool unmapped = false;                   // the process does not map it yet, or no longer
  Follow follow = Follow::none;            // children of that process
  std::optional<std::string> executable;   // every process that runs it
  std::shared_ptr<const std::vector<Probe>> probes;  // shared with later resolutions
  std::optional<std::string> cgroup = {};            // every process in it

  // The process that gets its own link, or null.
  const Process* filter() const { return follow == Follow::none ? process.get() : nullptr; }
};

struct Resolution {
  std::vector<Resolved> parts;
  std::vector<Refusal> refused;
  std::vector<std::string> notes;
  std::vector<std::shared_ptr<const Process>> awaiting = {};  // as in TargetFiles
  std::vector<std::string> imports = {};                      // as in ProbeMatch, of all files

  size_t probe_count() const;
  size_t site_count() const;
};

// What is wanted of the probes that fit a pattern.
struct Wanted {
  // The sites are for calls that are followed until they return.
  std::optional<Returns> returns = {};
  const Below* below = nullptr;               // they are in the functions that it selects; borrowed
  std::vector<std::string> symbols = {};      // their addresses, at each site
  std::vector<std::string> field_paths = {};  // of fields of their arguments and results
  uint32_t field_levels = 0;                  // as in Question
  bool awaits = false;  // as in TargetFinder; for the settings that users have chosen themselves

  Question question(const Pattern& pattern) const {
    return {.pattern = pattern,
            .returns = returns,
            .below = below ? std::optional(*below) : std::nullopt,
            .symbols = symbols,
            .field_paths = field_paths,
            .field_levels = field_levels};
  }
};

// A search in a file and its result: the commit need not repeat what staging has found.
struct FoundMatch {
  ObjectPtr object;  // one state of a file
  Question question;
  std::shared_ptr<const ProbeMatch> match;
};

// A pattern that a request has resolved.
struct ResolvedBefore {
  Question question;
  Target target;
  bool awaits = false;
  Result<Resolution> resolution;
  MatchCount count;  // of the request, after this pattern
};

// All that one request has read and found so far. A request that has to wait for a file is made again
// later, and must not wait for these again.
struct Learned {
  std::vector<ObjectPtr> objects;
  std::vector<FoundMatch> matches;
  bool in_slices = false;                     // it is made again after others had their turn
  std::map<size_t, ResolvedBefore> resolved;  // if so: its patterns, by their place in its order
};

// Resolves patterns to sites. Fails if nothing matches, and names the files that were searched; matches
// that cannot be armed are in `refused`.
class Resolver {
 public:
  // `most_of_user`: the most sites that one request may match, of a user who may not trace every process. `costs`: of this
  // machine; asked only when an answer depends on its nops, always with the same result, and taken to be `untried` before.
  Resolver(Reading& reading, size_t most_of_user, const SiteCosts& untried,
           std::function<SiteCosts()> costs)
      : most_of_user_(most_of_user),
        costs_(std::move(costs)),
        costs_seen_(untried),
        reading_(reading),
        objects_(reading) {}

  // Begins to count the matches of one request.
  void begin_count() { count_ = {}; }
  size_t matches() const { return count_.matches(); }
  MatchBounds bounds_of(const Access& access) const;

  Result<Resolution> resolve(const Pattern& pattern, const Target& target, const Access& access,
                             const Wanted& wanted = {});

  Reading& reading() { return reading_; }

  // Opens a target's file under this path.
  Result<ObjectPtr> open(const Access& access, Fd fd, const std::string& path) {
    return access.look_into(objects_, std::move(fd), path);
  }

  // Files and what was found in them are kept for later resolutions until this is called.
  void forget_files() {
    matches_.clear();
    objects_.forget_all();
    reading_.forget_files();
  }

  // Begins a request, or makes it again with what it has learned before.
  void begin(std::shared_ptr<Learned> learned);
  // Fails with Code::busy if an answer since then is provisional, because a file is still being read or the
  // slice was over.
  Status check_all_read() const;
  // From now on the request may resolve its patterns in slices of time, and is made again for the rest: it
  // must have changed nothing yet.
  void begin_slice();
  // Ends slicing: the rest is resolved at once. Returns whether the slice was over before the request had
  // resolved everything.
  bool end_slice();

 private:
  Result<std::shared_ptr<const ProbeMatch>> find(const ObjectPtr& object, const Pattern& pattern,
                                                 const Wanted& wanted, const MatchBounds& most);
  Result<ProbeMatch> ask(const Object& object, Question& question);
  Result<Resolution> resolve_bare(const Pattern& pattern, const Target& target,
                                  const Access& access, const Wanted& wanted);
  const ResolvedBefore* resolved_before(size_t place, const Question& question,
                                        const Target& target, bool awaits) const;

  std::shared_ptr<const ProbeMatch> known_match(const ObjectPtr& object, const Question& question);
  Result<Resolution> resolve_files(const Pattern& pattern, const Target& target,
                                   const Access& access, const Wanted& wanted);

  static constexpr size_t kMostKept = 8;
  std::list<FoundMatch> matches_;  // last used first
  std::shared_ptr<Learned> learned_;
  size_t resolved_ = 0;        // patterns of the request so far, this time
  bool resolved_any_ = false;  // at least one that was not resolved before
  uint64_t slice_end_ns_ = 0;  // 0: no slices
  bool slice_is_over_ = false;
  MatchCount count_;
  size_t most_of_user_;
  std::function<SiteCosts()> costs_;
  SiteCosts costs_seen_;  // what costs_ returned, once it was asked

  Reading& reading_;
  Objects objects_;
};

// A resolver with the access of one user. Both are borrowed.
struct ResolverFor {
  Resolver& resolver;
  const Access& access;

  Result<Resolution> resolve(const Pattern& pattern, const Target& target,
                             const Wanted& wanted) const {
    return resolver.resolve(pattern, target, access, wanted);
  }
  void begin_count() const { resolver.begin_count(); }
  Status check_all_read() const { return resolver.check_all_read(); }
};

}  // namespace tracectl
