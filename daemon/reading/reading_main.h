// SPDX-License-Identifier: BSD-2-Clause
//
// The process that reads files for a daemon: the daemon's own program, executed under another name, so
// that nothing of the daemon's memory is in it.
#pragma once

#include <span>

namespace tracectl {

inline constexpr const char* kReadingName = "tracectld-reading";

bool is_reading_process(std::span<char* const> arguments);

// Gives up all rights and answers what comes by descriptor 0, until its end. The program's exit status.
int serve_reading();

// As the exit status: it needed more memory than it may have.
inline constexpr int kOutOfMemory = 3;

}  // namespace tracectl
