// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/finding/beside.h"
#include "daemon/finding/resolver.h"
#include "daemon/finding/slot_key.h"
#include "daemon/model/setting.h"

namespace tracectl {

// The probes that one setting wants in one object for one filter.
struct WantedPart : Resolved {
  size_t of = 0;  // index of the setting
  Beside what = Beside::nothing;
  bool of_one_file = false;  // its setting was made by of_one_file()
  uint32_t sides = 0;        // enum tc_pair_side, if the setting measures a latency
  std::shared_ptr<const Setting> setting;

  // Orders parts that want one probe: what the engine adds comes before all settings.
  size_t order() const { return what == Beside::nothing ? of + 1 : 0; }
};

// The numbers that a hook had in a former daemon, and keeps.
struct SavedHook {
  uint32_t stat = 0;
  uint32_t source = 0;
  uint32_t pair = 0;
  uint32_t serial = 0;
  uint16_t set_target = 0;  // as in tc_hook

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("stat", s.stat);
    f("source", s.source);
    f("pair", s.pair);
    f("serial", s.serial);
    f("set_target", s.set_target);
  }
};

// One setting's use of one slot. It points into the coverage, because settings cover many thousand
// sites.
struct Want {
  const WantedPart* part = nullptr;
  const Probe* probe = nullptr;
  const Site* site = nullptr;
  uint32_t sides = 0;                // as in the part; both if both patterns name the probe
  const SavedHook* saved = nullptr;  // the hook that it takes over, if a former daemon had one

  const Setting& setting() const { return *part->setting; }
  // Outlives the coverage.
  std::shared_ptr<const std::string> probe_name() const { return {part->probes, &probe->name}; }
  // The file that every process of the target runs, if the target was given so.
  std::optional<std::pair<dev_t, ino_t>> executable() const;
};

// A session's wants of one slot, grouped by probe, the last staged first. In a group, the first one
// that is for a hit's process takes the hit.
using Wants = std::vector<Want>;

struct SlotWants {
  SlotKey key;
  Wants wants;
};

// All that a list of settings covers at this moment.
struct Coverage {
  std::vector<SlotWants> wants;    // by key, each once
  std::list<WantedPart> parts;     // `wants` points to these: a list keeps their addresses
  std::vector<Refusal> refused;    // asked for by name, or all that a glob fits
  std::vector<Refusal> left_out;   // fit a glob that fits others, too
  std::vector<Refusal> not_shown;  // below graphs; notes name the first few
  std::vector<std::string> notes;
  std::set<std::string> imports;  // functions of other files that those below graphs may call
  // Processes that may map further files which the settings choose, each once.
  std::vector<std::shared_ptr<const Process>> awaiting;

  Coverage() = default;
  Coverage(Coverage&&) = default;
  Coverage& operator=(Coverage&&) = default;

  std::vector<SlotWants>::iterator find(const SlotKey& key);  // or wants.end()
  size_t probe_count() const;                                 // without those that see callees
  bool needs_rings() const;
  std::vector<Refusal> refused_and_left_out() const;
};

Result<Coverage> cover(const ResolverFor& resolver, const std::vector<Setting>& settings);
// Also covers the probes by which programs report their threads' tags (<tracectl/tag.h>), if settings
// use tags and their processes have such probes. A note names each one that cannot be armed.
Result<Coverage> cover_with_tags(const ResolverFor& resolver, const std::vector<Setting>& settings);
// The files that are armed for more than one process, each once.
std::vector<FollowedFile> followed_files(const Coverage& coverage);
// The files that are armed in single processes, each once; at most kMostUnmapped of those that their
// process does not map.
inline constexpr size_t kMostUnmapped = 64;
std::vector<FollowedLibrary> followed_libraries(const Coverage& coverage);
// The text of a note.
std::string tags_not_seen(const std::string& why);

}  // namespace tracectl
