// SPDX-License-Identifier: BSD-2-Clause
//
// What the kernel or systemd takes long for is done by a thread of its own, so that the caller, who waits for its end, can do
// something else meanwhile.
#pragma once

#include <functional>
#include <utility>

#include "daemon/base/fd.h"

namespace tracectl {

// For one thread.
class LongWork {
 public:
  // Has to return when the descriptor, which is borrowed, is readable: then the work is done.
  using Meanwhile = std::function<void(int done_fd)>;

  // None: the caller does the work itself, as it also does where no thread can be had. It may throw std::bad_alloc.
  void set_meanwhile(Meanwhile meanwhile) { meanwhile_ = std::move(meanwhile); }

  // Returns when `work` has ended, with what it throws; throws nothing else. Within other work, and within
  // `meanwhile`, it is done by whoever asks.
  void run(const std::function<void()>& work);

 private:
  void call_meanwhile(int done_fd);

  Meanwhile meanwhile_;
  bool runs_ = false;
};

}  // namespace tracectl
