// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string.h>

#include <string>

namespace tracectl {

// "SIGSEGV"; "signal 34" if it has no name.
inline std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

}  // namespace tracectl
