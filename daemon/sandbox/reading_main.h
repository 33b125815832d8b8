// SPDX-License-Identifier: BSD-2-Clause
//
// The process that reads files for a daemon: the daemon's own program, executed under another name,
// so that it has none of the daemon's memory.
#pragma once

#include <span>

namespace tracectl {

inline constexpr const char* kReadingName = "tracectld-reading";

bool is_reading_process(std::span<char* const> arguments);

// Drops all rights and answers requests on descriptor 0 until its end. Returns the program's exit
// status.
int serve_reading();

// An exit status: it needed more memory than allowed.
inline constexpr int kOutOfMemory = 3;

}  // namespace tracectl
