// SPDX-License-Identifier: BSD-2-Clause
//
// What a child of ours gives up before it runs instructions that somebody else may have written.
//
// It keeps a copy of our memory. What we share with others, the kernel's BPF programs say, is mapped
// so that no child gets it (base/mapping.h): there it could do harm by a mere store.
#pragma once

#include <sys/types.h>

namespace tracectl {

// Leaves this process one descriptor, `fd`, as number 0, and three system calls: read, write, and
// exit of the thread; any other ends it. It also ends with the thread of `parent` that forked it.
// 0, or an errno; `fd` is number 0 then too. Safe after a fork in a program with threads.
int confine(int fd, pid_t parent);

}  // namespace tracectl
