// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "client/backend.h"
#include "client/wait.h"

namespace tracectl {

// Subscribes to a session anew, with the daemon that comes after one that has ended. It may not be there yet; or,
// where systemd has made the socket, take who asks and answer later.
class Rejoin {
 public:
  // All are borrowed. `patience_s`: for so long it is tried.
  Rejoin(const std::string& socket, const protocol::SessionSubscribe& request, Waiter& waiter,
         double patience_s);

  // The backend is the new daemon then; or what the waiter waits for came first. Fails where the daemon refuses,
  // as of a session that has not gone on, and when the time is over.
  Result<std::optional<Ended>> run(Backend& backend);

 private:
  using Clock = std::chrono::steady_clock;

  Result<std::optional<Ended>> attempt(Backend& backend);
  int left_ms() const;

  const std::string& socket_;
  const protocol::SessionSubscribe& request_;
  Waiter& waiter_;
  const double patience_s_;
  const Clock::time_point until_;
  bool is_refused_ = false;  // by the daemon, in the last attempt
};

}  // namespace tracectl
