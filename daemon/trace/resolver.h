// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/model/probe.h"
#include "daemon/model/setting.h"
#include "daemon/trace/probes.h"
#include "daemon/trace/targets.h"

namespace tracectl {

// The probes of one setting in one file and for one filter.
struct Resolved {
  ObjectPtr object;
  std::shared_ptr<const Process> process;            // the only one, held; or none
  bool unmapped = false;                             // which does not map the object yet
  Follow follow = Follow::none;                      // of that process
  std::optional<std::string> executable;             // every process that runs it
  std::shared_ptr<const std::vector<Probe>> probes;  // shared with later resolutions

  // The process that a link of its own is for.
  const Process* filter() const { return follow == Follow::none ? process.get() : nullptr; }
};

struct Resolution {
  std::vector<Resolved> parts;
  std::vector<Refusal> refused;
  std::vector<std::string> notes;

  size_t probe_count() const;
  size_t site_count() const;
};

// Pattern to sites. Fails where nothing matches, saying where was looked; what matches and cannot
// be armed is in `refused`.
class Resolver {
 public:
  Resolver() : targets_(objects_) {}

  // With `returns` for calls that are followed until they return; with `below` of the functions that it
  // makes of the pattern's.
  Result<Resolution> resolve(const Pattern& pattern, const Target& target,
                             std::optional<Returns> returns = std::nullopt,
                             const Below* below = nullptr);

  // The file of a target under that path.
  Result<ObjectPtr> open(Fd fd, const std::string& path) {
    return objects_.open(std::move(fd), path);
  }

  // Files read, and what was found in them, stay known for the next resolution until this is called.
  void forget_files() {
    matches_.clear();
    objects_.forget_all();
  }

 private:
  // What staging has found the commit need not look for again. An object is one state of a file.
  Result<std::shared_ptr<const ProbeMatch>> find(const ObjectPtr& object, const Pattern& pattern,
                                                 std::optional<Returns> returns,
                                                 const Below* below);

  struct Found {
    ObjectPtr object;
    Pattern pattern;
    std::optional<Returns> returns;
    std::optional<Below> below;
    std::shared_ptr<const ProbeMatch> match;
  };
  static constexpr size_t kMostKept = 8;
  std::list<Found> matches_;  // last used first

  Objects objects_;
  TargetFinder targets_;
};

}  // namespace tracectl
