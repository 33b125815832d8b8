// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// One descriptor for several: it is readable when one of them is. They are borrowed; a closed one leaves the set.
class ReadableSet {
 public:
  static Result<ReadableSet> open();

  Status add(int fd);
  int fd() const { return epoll_.get(); }
  // Waits until one is readable, at most this long.
  void wait(int milliseconds) const;

 private:
  Fd epoll_;
};

}  // namespace tracectl
