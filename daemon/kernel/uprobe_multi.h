// SPDX-License-Identifier: BSD-2-Clause
//
// Arming uprobes: by one uprobe_multi link (Linux 6.6), made by bpf(2) itself because libbpf 1.1 does not know it, or by
// a perf event for each site where the kernel has no such link (perf_uprobes.h).
// Source of the layout: include/uapi/linux/bpf.h, union bpf_attr, link_create.uprobe_multi.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/base/fd.h"

namespace tracectl {

inline constexpr unsigned kAttachUprobeMulti = 48;    // BPF_TRACE_UPROBE_MULTI
inline constexpr unsigned kAttachUprobeSession = 57;  // BPF_TRACE_UPROBE_SESSION, kernel 6.13

// The error for an instruction that uprobes refuse (ENOTSUPP of linux/errno.h, which user space does not have).
inline constexpr int kNotSupported = 524;

struct UprobeMulti {
  int program_fd = -1;
  unsigned attach_type = kAttachUprobeMulti;
  int object_fd = -1;  // armed through /proc/self/fd/N: no path is resolved again
  pid_t filter = 0;    // thread group, or 0
  std::span<const uint64_t> offsets;
  std::span<const uint64_t> semaphores = {};  // empty: none of the sites has one
  std::span<const uint64_t> cookies = {};
};

// Whether the kernel has this link, tried once. If not, programs at uprobes have the attach type 0.
bool has_uprobe_multi();

// The same of the link that runs a program at a function's entry and at its return.
bool has_uprobe_session();

// The attach type with which a program at uprobes is loaded: kAttachUprobeMulti where the kernel has it.
unsigned attach_type_at_uprobes();

// Descriptors whose closing disarms the sites; none if a site cannot be armed, and then errno says why. `refused`, if
// not null, gets the index of that site where the kernel arms one after another.
std::vector<Fd> arm_uprobes(const UprobeMulti& request, size_t* refused = nullptr);

}  // namespace tracectl
