// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tracectl {

// A probe or site that matches and is not, or will not be, armed.
struct Refusal {
  std::string probe;
  std::optional<uint64_t> offset;  // of the site, in the file
  std::optional<pid_t> pid;        // if the reason concerns one process
  std::string reason;

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("offset", s.offset);
    f("pid", s.pid);
    f("reason", s.reason);
  }
};

}  // namespace tracectl
