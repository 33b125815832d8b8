// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace tracectl {

// The output of a program, which is found in $PATH and started without a shell; it must exit with 0.
std::string output_of(std::vector<std::string> words);

}  // namespace tracectl
