// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/control/commands.h"
#include "daemon/protocol/frames.h"

namespace tracectl {

// One request line in, one reply line out; `refused` says whether it was an error.
struct Reply {
  std::string line;
  bool refused = false;
};
Reply dispatch(std::string_view line, Commands& commands, Peer& peer);

}  // namespace tracectl
