// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace tracectl {

// What a program prints, found in $PATH and started by no shell; it must exit with 0.
std::string output_of(std::vector<std::string> words);

}  // namespace tracectl
