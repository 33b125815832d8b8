// SPDX-License-Identifier: BSD-2-Clause
//
// Runs long work of the kernel or systemd in a thread of its own, so that the caller can do something else until it
// has ended.
#pragma once

#include <functional>
#include <utility>

#include "daemon/base/fd.h"

namespace tracectl {

// Used by one thread.
class LongWork {
 public:
  // Must return when the descriptor, which is borrowed, is readable: then the work is done.
  using Meanwhile = std::function<void(int done_fd)>;

  // Without one the caller does the work itself, as it does if no thread can be made. It may throw std::bad_alloc.
  void set_meanwhile(Meanwhile meanwhile) { meanwhile_ = std::move(meanwhile); }

  // Returns when `work` has ended. Throws what it throws, and nothing else. Within other work, and within
  // `meanwhile`, the caller does the work itself.
  void run(const std::function<void()>& work);

 private:
  void call_meanwhile(int done_fd);

  Meanwhile meanwhile_;
  bool runs_ = false;
};

}  // namespace tracectl
