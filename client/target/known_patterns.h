// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace tracectl {

// Patterns that begin with `typed`, sorted; some are parts of patterns, which end with : or /. Names in
// foreign files can have any characters. They are made of what
// this user can read: directories, and symbols and USDT notes of the file that OBJECT names. `program` is the path of
// the program that is traced, for patterns without OBJECT; empty: it is not known.
std::vector<std::string> known_patterns(const std::string& typed, const std::string& program);

}  // namespace tracectl
