// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <set>
#include <string>

namespace tracectl {

// The names, without aliases, of the units of which files are installed, running or not, as "redis-server.service": systemd.unit(5).
std::set<std::string> installed_units();

}  // namespace tracectl
