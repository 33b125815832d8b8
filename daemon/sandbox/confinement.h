// SPDX-License-Identifier: BSD-2-Clause
//
// The restrictions of a process that reads untrusted files; set before the first file arrives.
#pragma once

#include <cstdint>

namespace tracectl {

inline constexpr uint64_t kMostReadingMemory = uint64_t{2} << 30;  // bytes, of address space

// Leaves this process descriptor 0, no capabilities, the memory above, and only system calls that
// read files opened by others, send and receive messages, and allocate memory that is not
// executable. The process ends with its parent. Returns 0, or an errno. Only for a process with one
// thread.
int confine_reading();

}  // namespace tracectl
