// SPDX-License-Identifier: BSD-2-Clause
//
// Probes on 5-byte nops that stay breakpoints.
//
// Linux 6.18 to 7.1 replace the breakpoint on a 5-byte nop, at its first hit, by a call into
// a page that it maps into the process for that (arch/x86/kernel/uprobes.c, arch_uprobe_optimize). That
// halves the cost of a hit. But fork() copies the call and not the page: a child that reaches the call
// crashes, even after the probe has been removed from the parent.
//
// If no page is free within reach of a call, the kernel keeps the breakpoint, and does not try again in
// any process while anybody has the site armed. So before we make a link, we hit each of its 5-byte
// nops once, in a mapping of the file that is surrounded by reserved address space.
//
// The code that runs there is what the file holds when the kernel reads the instruction. Users who may
// write the file can have changed it since we looked. So a confined child runs it (kernel/confine.h),
// and not this process, which is root's.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "daemon/base/fd.h"

namespace tracectl {

// What errno says if the child cannot take all rights from itself. No call that is made here sets it.
constexpr int kCannotConfine = ECHILD;

// From now on hits by this process are ignored; 0 ends that.
using IgnoreHits = std::function<void(pid_t)>;

// `offsets` are those of 5-byte nops in the object; `semaphores` as in UprobeMulti. They stay
// breakpoints while the returned links are open, or another one that was made in the meantime. `ignore`
// gets the child that hits them, so that existing links do not count it. Returns no descriptor and sets
// errno if the kernel refuses: EOPNOTSUPP if it makes a call nevertheless; ENOEXEC if the child crashed
// or did not return, because there are no 5-byte nops at these offsets; kCannotConfine.
std::vector<Fd> keep_breakpoints(int program_fd, int object_fd, std::span<const uint64_t> offsets,
                                 std::span<const uint64_t> semaphores, const IgnoreHits& ignore);

}  // namespace tracectl
