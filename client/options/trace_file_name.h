// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace tracectl {

// The trace file for the value of an option: a file's name, or a directory, in which the file gets its name from the
// time: tracectl-20261128T140509.123456Z.tct, as dumps of flight recorders have theirs.
std::string trace_file_name(const std::string& file_or_directory);

}  // namespace tracectl
