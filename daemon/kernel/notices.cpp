// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/notices.h"

#include <cstring>

namespace tracectl {

Result<Notices> Notices::open(int fd) {
  auto ring = Ring::open(fd, TC_NOTICES_BYTES);
  if (!ring) return ring.error();
  return Notices(std::move(*ring));
}

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

}  // namespace tracectl
