// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

namespace tracectl {

// A time since 1970 in the form in which files are named by it: 20261128T140509.123456Z.
std::string utc_text(uint64_t wall_ns);

}  // namespace tracectl
