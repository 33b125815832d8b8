// SPDX-License-Identifier: BSD-2-Clause
//
// Which of the files that a process has mapped a pattern's OBJECT names.
#pragma once

#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/process/maps.h"

namespace tracectl {

// All that a process has mapped, among it perhaps files that are none of programs.
inline constexpr const char* kAnyObject = "*";

inline bool is_path(const std::string& object) { return !object.empty() && object.front() == '/'; }

// Whether OBJECT names the file at this path, for which nobody has looked.
bool names_file(const std::string& object, const std::string& path);

// Those that OBJECT names: an absolute path, a glob of file names, or nothing for the file that the
// process executes. `files`: what it maps. Fails with Code::not_found where OBJECT is empty and the
// executable is not among them; none may fit.
Result<std::vector<MappedFile>> choose_files(const Process& process,
                                             const std::vector<MappedFile>& files,
                                             const std::string& object);

}  // namespace tracectl
