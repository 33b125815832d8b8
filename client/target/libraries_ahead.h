// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace tracectl {

// The libraries that fit OBJECT where programs look for those that they load while they run. They are armed before the
// program begins, so that nothing in them is missed. Looked at are, for a path, the file itself; for a name, the
// directories in $LD_LIBRARY_PATH, those of the files in `will_map` (of a program, as by will_map()), and what is below
// the program's ../lib, if that is its own. Real paths of shared objects; none if more than
// kMostAhead fit, if OBJECT is empty, or if it fits any file in `will_map`: then the program has what was meant.
inline constexpr size_t kMostAhead = 16;
std::vector<std::string> libraries_ahead(const std::string& object,
                                         const std::vector<std::string>& will_map);

}  // namespace tracectl
