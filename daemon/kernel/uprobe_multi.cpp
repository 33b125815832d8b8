// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/uprobe_multi.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

namespace tracectl {
namespace {

struct LinkCreateAttr {
  uint32_t program_fd;
  uint32_t target_fd;
  uint32_t attach_type;
  uint32_t link_flags;
  uint64_t path;
  uint64_t offsets;
  uint64_t ref_ctr_offsets;
  uint64_t cookies;
  uint32_t count;
  uint32_t flags;
  uint32_t pid;
  uint32_t padding;  // the kernel requires the bytes after pid to be zero
};

template <class T> uint64_t address_of(std::span<const T> values) {
  return values.empty() ? 0 : reinterpret_cast<uintptr_t>(values.data());
}

}  // namespace

Fd link_uprobe_multi(const UprobeMulti& request) {
  const std::string path = "/proc/self/fd/" + std::to_string(request.object_fd);
  LinkCreateAttr attr{};
  attr.program_fd = static_cast<uint32_t>(request.program_fd);
  attr.attach_type = request.attach_type;
  attr.path = reinterpret_cast<uintptr_t>(path.c_str());
  attr.offsets = address_of(request.offsets);
  attr.ref_ctr_offsets = address_of(request.semaphores);
  attr.cookies = address_of(request.cookies);
  attr.count = static_cast<uint32_t>(request.offsets.size());
  attr.pid = static_cast<uint32_t>(request.filter);
  return Fd{static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr)))};
}

}  // namespace tracectl
