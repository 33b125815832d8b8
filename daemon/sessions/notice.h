// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <string>
#include <variant>
#include <vector>

#include "daemon/kernel/notices.h"
#include "daemon/model/process_end.h"

namespace tracectl {

// A hit has triggered a session whose flight recorder is to be dumped.
struct DumpAsked {
  std::string session;
  std::string by_session;
  pid_t pid = 0;  // of the process that hit the probe
  std::string process;
};

// The end of a process that these sessions, which have flight recorders, have chosen by its number, its
// executable or its parent.
struct SeenEnd {
  ProcessEnd end;
  std::vector<std::string> sessions;
};

using Notice = std::variant<DumpAsked, SeenEnd>;

// Whether the process was in the set with this number, as in tc_hook.set_target.
inline bool has_set(const tc_notice& notice, uint16_t set_target) {
  const uint32_t set = set_target - 1u;
  return notice.of.words[set / 64] >> (set % 64) & 1;
}

}  // namespace tracectl
