// SPDX-License-Identifier: BSD-2-Clause
//
// Probes on 5-byte nops that stay breakpoints.
//
// Since Linux 6.18 the kernel replaces the breakpoint on a 5-byte nop, when it is hit first, by a call
// into a page that it maps into the process for that (arch/x86/kernel/uprobes.c,
// arch_uprobe_optimize). That halves what a hit costs. But the page is not copied by fork(), and the
// call is: a child that comes to it dies, also when the probe has been taken off in the parent.
//
// Where no page is free within reach of a call the kernel leaves the breakpoint, and it does not try
// again, in any process, as long as the site is armed by anybody. So before a link is made, each of
// its 5-byte nops is hit once, in a mapping of the file in the midst of address space that is
// reserved.
//
// What runs there is what the file holds when the kernel takes the instruction from it. Who may write
// the file may have put another there since it was looked at. So a child of ours does it that can do
// nothing else (kernel/confine.h), not this process, which is root's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <span>

#include "daemon/base/fd.h"

namespace tracectl {

// Makes hits by a process nobody's; 0 ends that.
using IgnoreHits = std::function<void(pid_t)>;

// `offsets` are those of 5-byte nops in the object; `semaphores` as in UprobeMulti. They are kept
// while the link that this gives is open, or one that has been made meanwhile. `ignore` is for the
// child that hits them, which links that are there already would count. None and errno if the kernel
// refuses; EOPNOTSUPP where it makes a call all the same; ENOEXEC if the child died or did not come
// back, as what lies there are no 5-byte nops.
Fd keep_breakpoints(int program_fd, int object_fd, std::span<const uint64_t> offsets,
                    std::span<const uint64_t> semaphores, const IgnoreHits& ignore);

// Whether a child lives that is forked where such a call is, tried on a child of our own. False where
// it could not be tried.
bool nop5_call_survives_fork();

}  // namespace tracectl
