// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "daemon/model/refusal.h"

namespace tracectl::protocol {

// A line of `tracectl join --json`: what a session traces from now on.
struct JoinedPart {
  std::string session;
  std::vector<std::string> cgroups;
  std::vector<Refusal> refused = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f("cgroups", s.cgroups);
    f("refused", s.refused);
  }
};

}  // namespace tracectl::protocol
