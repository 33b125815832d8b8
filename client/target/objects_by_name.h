// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace tracectl {

// The pattern once for each file that its OBJECT names where no process is chosen: the files that fit a path with a
// glob; for a name, the shared objects in the directories of libraries that fit OBJECT, or else OBJECT.so*, or else the
// program of that name in $PATH; for *, what with_mapped_objects() returns. The pattern itself, if it is invalid, if
// OBJECT is empty or is a path that is there, or if nothing fits.
std::vector<std::string> with_objects_by_name(const std::string& pattern);

// The same among the files that any process maps which the caller may look at; if none fits, as above.
std::vector<std::string> with_mapped_objects(const std::string& pattern);

}  // namespace tracectl
