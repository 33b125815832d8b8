// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/model/setting.h"
#include "daemon/trace/resolver.h"
#include "daemon/trace/slots.h"

namespace tracectl {

// What one setting wants of one slot.
struct Want {
  size_t order = 0;  // of the setting
  ObjectPtr object;
  std::shared_ptr<const std::string> probe;
  std::shared_ptr<const Arguments> args;
  std::shared_ptr<const Setting> setting;
  std::shared_ptr<const Process> process;             // the only one, held; or none
  bool unmapped = false;                              // which does not map the object yet
  bool nop5 = false;                                  // as in ArmedSite
  std::optional<std::pair<dev_t, ino_t>> executable;  // every process that runs it
};

// What a session wants of one slot: probe by probe, and of each the last staged first. Of those of
// a probe the first that is for a hit's process takes it.
using Wants = std::vector<Want>;

// What a list of settings covers at this moment.
struct Coverage {
  std::map<SlotKey, Wants> wants;
  std::vector<Refusal> refused;
  std::vector<std::string> notes;

  size_t probe_count() const;
  bool any_event() const;
};

Result<Coverage> cover(Resolver& resolver, const std::vector<Setting>& settings);

}  // namespace tracectl
