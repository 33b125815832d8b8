// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string.h>

#include <optional>
#include <string>

namespace tracectl {

// "SIGSEGV"; "signal 34" if it has no name.
inline std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

// SIGTERM, TERM and 15 are the same.
inline std::optional<int> signal_named(const std::string& name) {
  for (int signal = 1; signal <= 64; ++signal) {
    const std::string full = signal_name(signal);
    if (name == full || "SIG" + name == full || name == std::to_string(signal)) return signal;
  }
  return std::nullopt;
}

}  // namespace tracectl
