// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// Descriptors as one: readable when one of them is. They stay their owners'; one that is closed is out.
class ReadableSet {
 public:
  static Result<ReadableSet> open();

  Status add(int fd);
  int fd() const { return epoll_.get(); }
  // Until one is readable, or as long as that.
  void wait(int milliseconds) const;

 private:
  Fd epoll_;
};

}  // namespace tracectl
