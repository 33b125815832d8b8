// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <string>
#include <variant>
#include <vector>

#include "daemon/model/crash.h"

namespace tracectl {

// A hit has triggered a session whose flight recorder is to be dumped.
struct DumpAsked {
  std::string session;
  std::string by_session;
  pid_t pid = 0;  // that hit it
  std::string process;
};

// Of a process that these sessions, which have flight recorders, have chosen by its number, its
// executable or its parent.
struct SeenCrash {
  Crash crash;
  std::vector<std::string> sessions;
};

using Notice = std::variant<DumpAsked, SeenCrash>;

}  // namespace tracectl
