// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/finding/beside.h"
#include "daemon/finding/resolver.h"
#include "daemon/finding/slot_key.h"
#include "daemon/model/setting.h"

namespace tracectl {

// What one setting wants in one object of one filter.
struct WantedPart : Resolved {
  size_t of = 0;  // which of the settings
  Beside what = Beside::nothing;
  bool of_one_file = false;  // its setting is
  uint32_t sides = 0;        // enum tc_pair_side, of a setting that measures a latency
  std::shared_ptr<const Setting> setting;

  // Of parts that want one probe: what comes beside settings is before all of them.
  size_t order() const { return what == Beside::nothing ? of + 1 : 0; }
};

// The numbers that a hook had in a former daemon, and goes on with.
struct FormerHook {
  uint32_t stat = 0;
  uint32_t source = 0;
  uint32_t pair = 0;
  uint32_t serial = 0;
  uint16_t set_target = 0;  // as in tc_hook
};

// What one setting wants of one slot. It points into the coverage: settings cover many thousand
// sites.
struct Want {
  const WantedPart* part = nullptr;
  const Probe* probe = nullptr;
  const Site* site = nullptr;
  uint32_t sides = 0;  // as of the part; of both where both patterns are for the probe
  const FormerHook* former = nullptr;  // whose hook it gets, if that was there before the daemon

  const Setting& setting() const { return *part->setting; }
  // Outlives the coverage.
  std::shared_ptr<const std::string> probe_name() const { return {part->probes, &probe->name}; }
  // The file that every process of the target runs, if that is how the target was given.
  std::optional<std::pair<dev_t, ino_t>> executable() const;
};

// What a session wants of one slot: probe by probe, and of each the last staged first. Of those of
// a probe the first that is for a hit's process takes it.
using Wants = std::vector<Want>;

struct SlotWants {
  SlotKey key;
  Wants wants;
};

// What a list of settings covers at this moment.
struct Coverage {
  std::vector<SlotWants> wants;  // by key, each once
  std::list<WantedPart> parts;   // where they are; a list, as they are pointed to
  std::vector<Refusal> refused;
  std::vector<Refusal> not_shown;  // below graphs; notes tell of the first few
  std::vector<std::string> notes;
  // Processes that may map further files which the settings choose, each once.
  std::vector<std::shared_ptr<const Process>> awaiting;

  Coverage() = default;
  Coverage(Coverage&&) = default;
  Coverage& operator=(Coverage&&) = default;

  std::vector<SlotWants>::iterator find(const SlotKey& key);  // or wants.end()
  size_t probe_count() const;                                 // without those that see callees
  bool needs_rings() const;
};

Result<Coverage> cover(const ResolverFor& resolver, const std::vector<Setting>& settings);
// Also the probes by which programs tell of their threads' tags (<tracectl/tag.h>), where settings use
// tags and their processes have such probes. One that cannot be armed is a note.
Result<Coverage> cover_with_tags(const ResolverFor& resolver, const std::vector<Setting>& settings);
// The files that are armed for more than one process, each once.
std::vector<FollowedFile> followed_files(const Coverage& coverage);
// The files that are armed in single processes, each once; of those that no process maps any more no more than
// kMostUnmapped.
inline constexpr size_t kMostUnmapped = 64;
std::vector<FollowedLibrary> followed_libraries(const Coverage& coverage);
// A note.
std::string tags_not_seen(const std::string& why);

}  // namespace tracectl
