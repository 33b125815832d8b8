// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/uprobe_multi.h"

#include <bpf/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "daemon/kernel/perf_uprobes.h"

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

Fd create_link(const UprobeMulti& request, uint64_t path) {
  LinkCreateAttr attr{};
  attr.program_fd = static_cast<uint32_t>(request.program_fd);
  attr.attach_type = request.attach_type;
  attr.path = path;
  attr.offsets = address_of(request.offsets);
  attr.ref_ctr_offsets = address_of(request.semaphores);
  attr.cookies = address_of(request.cookies);
  attr.count = static_cast<uint32_t>(request.offsets.size());
  attr.pid = static_cast<uint32_t>(request.filter);
  return Fd{static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr)))};
}

// A program that does nothing, of the type that the link takes.
Fd load_empty_program(unsigned attach_type) {
  std::array<bpf_insn, 2> code{};
  code[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
  code[1].code = BPF_JMP | BPF_EXIT;
  LIBBPF_OPTS(bpf_prog_load_opts, options);
  options.expected_attach_type = static_cast<bpf_attach_type>(attach_type);
  return Fd{bpf_prog_load(BPF_PROG_TYPE_KPROBE, "tracectl_empty", "GPL", code.data(), code.size(),
                          &options)};
}

// A kernel that knows the link reads the path, which cannot be read: EFAULT. Others refuse the type of link before that:
// EINVAL. Any other failure, as for lack of descriptors or of rights, says nothing of the kernel, so the link is then
// taken to be there: what asks for it fails with the reason.
bool knows_the_link(unsigned attach_type) {
  constexpr uint64_t kNoAddress = 1;
  const Fd program = load_empty_program(attach_type);
  if (!program) return true;
  const std::array<uint64_t, 1> offsets{0};
  const Fd link = create_link(
      {.program_fd = program.get(), .attach_type = attach_type, .offsets = offsets}, kNoAddress);
  return link || errno != EINVAL;
}

}  // namespace

bool has_uprobe_multi() {
  static const bool has = knows_the_link(kAttachUprobeMulti);
  return has;
}

bool has_uprobe_session() {
  static const bool has = knows_the_link(kAttachUprobeSession);
  return has;
}

unsigned attach_type_at_uprobes() { return has_uprobe_multi() ? kAttachUprobeMulti : 0; }

std::vector<Fd> arm_uprobes(const UprobeMulti& request, size_t* refused) {
  std::vector<Fd> armed;
  if (has_uprobe_multi()) {
    const std::string path = "/proc/self/fd/" + std::to_string(request.object_fd);
    if (Fd link = create_link(request, reinterpret_cast<uintptr_t>(path.c_str())))
      armed.push_back(std::move(link));
    return armed;
  }
  armed = arm_by_perf_events(request);
  if (armed.size() == request.offsets.size()) return armed;
  const int err = errno;
  if (refused) *refused = armed.size();
  armed.clear();
  errno = err;
  return armed;
}

}  // namespace tracectl
