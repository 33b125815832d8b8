// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/sent_fds.h"

#include <cstring>

namespace tracectl {

std::vector<Fd> sent_fds(msghdr& message) {
  std::vector<Fd> all;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      all.emplace_back(fd);
    }
  }
  return all;
}

std::vector<int> numbers_of(const std::vector<Fd>& fds) {
  std::vector<int> numbers;
  for (const Fd& fd : fds) numbers.push_back(fd.get());
  return numbers;
}

}  // namespace tracectl
