// SPDX-License-Identifier: BSD-2-Clause
//
// The uprobe_multi link (kernel 6.6), made by bpf(2) itself because libbpf 1.1 does not know it.
// Source of the layout: include/uapi/linux/bpf.h, union bpf_attr, link_create.uprobe_multi.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

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

// Returns the link's descriptor, or none and sets errno.
Fd link_uprobe_multi(const UprobeMulti& request);

}  // namespace tracectl
