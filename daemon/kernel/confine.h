// SPDX-License-Identifier: BSD-2-Clause
//
// Takes all rights from a child of ours before it runs instructions that somebody else may have written.
//
// The child keeps a copy of our memory. Memory that we share, with the BPF programs for example, is
// mapped so that children do not get it (base/mapping.h): one store there could do harm.
#pragma once

#include <sys/types.h>

namespace tracectl {

// Leaves this process one descriptor, `fd`, as number 0, and three system calls: read, write, and exit
// of the thread. Any other call kills it, as does the end of the thread of `parent` that forked it.
// Returns 0, or an errno; `fd` is number 0 in either case. Safe after a fork in a program with threads.
int confine(int fd, pid_t parent);

// Kills this process at any system call but these three. Returns 0, or an errno.
int filter_system_calls();

}  // namespace tracectl
