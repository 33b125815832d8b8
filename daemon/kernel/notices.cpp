// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/notices.h"

#include <bpf/libbpf.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "bpf/tracer.skel.h"
#include "daemon/kernel/uprobe_multi.h"

namespace tracectl {

Result<Notices> Notices::open(tracer& skeleton, std::span<tc_session> sessions) {
  auto ring = Ring::open(bpf_map__fd(skeleton.maps.notices), TC_NOTICES_BYTES);
  if (!ring) return ring.error();
  return Notices(skeleton, sessions, std::move(*ring));
}

// The links of a former daemon's linkers have ended with it.
Notices::Notices(tracer& skeleton, std::span<tc_session> sessions, Ring ring)
    : skeleton_(skeleton), sessions_(sessions), ring_(std::move(ring)) {
  std::ranges::fill(linkers(), tc_linker{});
}

int Notices::fd() const { return bpf_map__fd(skeleton_.maps.notices); }

std::vector<tc_notice> Notices::take() {
  std::vector<tc_notice> taken;
  (void)ring_.drain([&](std::span<const std::byte> bytes) {
    tc_notice notice;
    if (bytes.size() < sizeof(notice)) return;
    std::memcpy(&notice, bytes.data(), sizeof(notice));
    taken.push_back(notice);
  });
  return taken;
}

void Notices::listen_for_dumps(uint32_t session) {
  __atomic_store_n(&sessions_[session].listens_for_dumps, 1u, __ATOMIC_SEQ_CST);
}

void Notices::watch_ends(const WatchedEnds& ends) {
  tc_ends& watched = skeleton_.bss->watched_ends;
  static_assert(sizeof(watched.statuses) == sizeof(ends.statuses));
  __atomic_store_n(&watched.signals, ends.signals, __ATOMIC_SEQ_CST);
  for (size_t i = 0; i < ends.statuses.size(); ++i)
    __atomic_store_n(&watched.statuses[i], ends.statuses[i], __ATOMIC_SEQ_CST);
}

// All offsets have the linker's number. Without a filter it would be armed in every process of the machine.
Result<std::vector<Fd>> Notices::arm_linker(int object_fd, std::span<const uint64_t> offsets,
                                            pid_t pid, uint32_t number) {
  if (pid <= 0) return Error{Code::invalid, "a dynamic linker is armed in one process only"};
  const std::vector<uint64_t> cookies(offsets.size(), number);
  auto links = arm_uprobes({.program_fd = bpf_program__fd(skeleton_.progs.on_linker),
                            .object_fd = object_fd,
                            .filter = pid,
                            .offsets = offsets,
                            .cookies = cookies});
  if (links.empty())
    return Error::from_errno("arm the dynamic linker of process " + std::to_string(pid));
  return links;
}

std::span<tc_linker> Notices::linkers() { return skeleton_.bss->linkers; }

}  // namespace tracectl
