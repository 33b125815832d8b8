// SPDX-License-Identifier: BSD-2-Clause
//
// The uprobe_multi link (kernel 6.6), which libbpf 1.1 does not know: the bpf(2) call itself.
// Source of the layout: include/uapi/linux/bpf.h, union bpf_attr, link_create.uprobe_multi.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "daemon/base/fd.h"

namespace tracectl {

inline constexpr unsigned kAttachUprobeMulti = 48;    // BPF_TRACE_UPROBE_MULTI
inline constexpr unsigned kAttachUprobeSession = 57;  // BPF_TRACE_UPROBE_SESSION, kernel 6.13

// linux/errno.h, not in user space's headers: what uprobes say of an instruction they refuse.
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

// The link's descriptor, or none and errno.
Fd link_uprobe_multi(const UprobeMulti& request);

}  // namespace tracectl
