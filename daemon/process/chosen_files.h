// SPDX-License-Identifier: BSD-2-Clause
//
// Chooses the files that a pattern's OBJECT names among those that a process has mapped.
#pragma once

#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/owner.h"
#include "daemon/process/maps.h"

namespace tracectl {

// All files that a process has mapped; some may not be programs.
inline constexpr const char* kAnyObject = "*";

inline bool is_path(const std::string& object) { return !object.empty() && object.front() == '/'; }

// Symbolic links are followed with the rights of `user`; null: with those of this process.

// Whether OBJECT names the file at this path, by the path itself or by a link that leads to the file.
bool names_file(const std::string& object, const std::string& path, const Owner* user = nullptr);

// The files that OBJECT names: an absolute path, a glob of file names, or empty for the file that
// the process executes. A path, and a name that is no glob, may be a link to the file, as seen by the process or by this
// one. `files` are those it maps; the result may be empty. Fails with Code::not_found if OBJECT is empty and the
// executable is not among them.
Result<std::vector<MappedFile>> choose_files(const Process& process,
                                             const std::vector<MappedFile>& files,
                                             const std::string& object,
                                             const Owner* user = nullptr);

}  // namespace tracectl
