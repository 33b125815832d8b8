// SPDX-License-Identifier: BSD-2-Clause
#pragma once

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
  std::shared_ptr<const Process> process;  // the only process, held; or none
  bool unmapped = false;                   // which does not map the object yet
  std::optional<std::string> executable;   // every process that runs it
  std::vector<Probe> probes;
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

  Result<Resolution> resolve(const Pattern& pattern, const Target& target);

  // Files read stay known for the next resolution until this is called.
  void forget_files() { objects_.forget_all(); }

 private:
  Objects objects_;
  TargetFinder targets_;
};

}  // namespace tracectl
