// SPDX-License-Identifier: BSD-2-Clause
//
// What a process that reads strangers' files gives up before the first one comes.
#pragma once

#include <cstdint>

namespace tracectl {

inline constexpr uint64_t kMostReadingMemory = uint64_t{2} << 30;  // bytes, of address space

// Leaves this process descriptor 0, no capability, the memory above, and of the system calls those by
// which files are read that others have opened, messages come and go, and memory is had that is not
// executed. It ends with its parent. 0, or an errno. For a process with one thread.
int confine_reading();

}  // namespace tracectl
