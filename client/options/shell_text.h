// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace tracectl {

using Words = std::vector<std::string>;

// Quoted for a shell.
std::string shell_text(const Words& words);

}  // namespace tracectl
