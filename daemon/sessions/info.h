// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/kernel/counters.h"
#include "daemon/kernel/session_rows.h"
#include "daemon/kernel/switching.h"
#include "daemon/model/pattern.h"
#include "daemon/model/probe.h"
#include "daemon/model/setting.h"
#include "daemon/switching/session.h"
#include "daemon/switching/slots.h"

namespace tracectl {

// One session's setting of one probe: `setting` has all that is needed to set it again.
struct ProbeSettingInfo {
  std::shared_ptr<const std::string> probe;
  std::string session;
  std::shared_ptr<const Setting> setting;
  bool paused = false;
  std::shared_ptr<const ReturnPlan> returns;  // how returns are seen at the first of its sites
  bool may_wait = false;  // hits at one of its sites may, for what this or another setting reads
  size_t sites = 0;
  uint64_t epoch = 0;  // under which it came into force
  uint64_t hits = 0;
  std::array<size_t, 2> generations = {};  // the sites at which each has it, read from the kernel
};

// A session's settings of armed probes whose names match the pattern.
std::vector<ProbeSettingInfo> info_of(const Switching& switching, const Counters& counters,
                                      const SessionRows& rows, const Slots& slots,
                                      const Session& session, const Pattern& pattern);

}  // namespace tracectl
