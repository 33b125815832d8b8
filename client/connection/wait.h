// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

enum class Ended { interrupted, time, targets, output_closed, nothing_left };

// Waits for ^C (or SIGTERM), the end of a time, or the end of every target, and handles events meanwhile.
// Blocks those signals from its creation on, so that none is missed.
class Waiter {
 public:
  static Result<Waiter> open();

  // Ends when these processes, given by their pidfds, have all ended. Borrowed.
  void end_with(int pidfd) { pidfds_.push_back(pidfd); }
  Status end_after(double seconds);
  // run() fails when the peer of this socket has closed it. Borrowed.
  void depend_on(int socket) { socket_ = socket; }

  // Calls `on_events` at the beginning and whenever `events_fd` is readable, unless that is -1, and after
  // `every_ms` without events, if that is not negative.
  Result<Ended> run(int events_fd, const std::function<Result<bool>()>& on_events,
                    int every_ms = -1);

  // Waits until `fd` (or -1) is readable, or `longest_ms` are over; returns ^C or the end of the time if that
  // comes first.
  Result<std::optional<Ended>> wait(int fd, int longest_ms);
  // Waits until the process with this pidfd has ended, however long; true if ^C came first.
  Result<bool> wait_for_end(int pidfd);

 private:
  explicit Waiter(Fd signals) : signals_(std::move(signals)) {}
  void forget_ended();
  void take_signal();

  Fd signals_;
  Fd timer_;
  int socket_ = -1;
  std::vector<int> pidfds_;
};

}  // namespace tracectl
