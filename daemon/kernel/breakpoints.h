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
// its 5-byte nops is hit once by ourselves, in a mapping of the file in the midst of address space
// that is reserved.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "daemon/base/fd.h"
#include "daemon/base/mapping.h"

namespace tracectl {

class KeptBreakpoints {
 public:
  // `offsets` are those of 5-byte nops in the object; `semaphores` as in UprobeMulti. They are kept
  // while this lives, or its link, or one that has been made meanwhile. None and errno if the kernel
  // refuses; EOPNOTSUPP where it makes a call all the same.
  static std::optional<KeptBreakpoints> make(int program_fd, int object_fd,
                                             std::span<const uint64_t> offsets,
                                             std::span<const uint64_t> semaphores);

  // Of ourselves, without the mapping in which it has done its work.
  Fd take_link() && { return std::move(link_); }

 private:
  KeptBreakpoints(Mapping space, Fd link) : link_(std::move(link)), space_(std::move(space)) {}

  // In this order: where the mapping has gone there is nothing to take the breakpoints off from.
  Fd link_;
  Mapping space_;
};

// Whether a child lives that is forked where such a call is, tried on a child of our own. False where
// it could not be tried.
bool nop5_call_survives_fork();

}  // namespace tracectl
