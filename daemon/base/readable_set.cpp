// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/readable_set.h"

#include <sys/epoll.h>

namespace tracectl {

Result<ReadableSet> ReadableSet::open() {
  ReadableSet set;
  set.epoll_ = Fd{::epoll_create1(EPOLL_CLOEXEC)};
  if (!set.epoll_) return Error::from_errno("epoll_create1");
  return set;
}

Status ReadableSet::add(int fd) {
  epoll_event event{.events = EPOLLIN, .data = {}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return Error::from_errno("epoll_ctl");
  return ok();
}

void ReadableSet::wait(int milliseconds) const {
  epoll_event event{};
  (void)::epoll_wait(epoll_.get(), &event, 1, milliseconds);
}

}  // namespace tracectl
