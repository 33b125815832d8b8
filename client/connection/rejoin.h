// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "client/connection/backend.h"
#include "client/connection/wait.h"

namespace tracectl {

// Asks the next daemon to subscribe to a session again, or to show it or all. The daemon may not run yet; or, with a socket from
// systemd, the connection may be accepted before it runs and be answered later.
template <class Request> class Rejoin {
 public:
  // All are borrowed. `patience_s`: how long it tries.
  Rejoin(const std::string& socket, const Request& request, Waiter& waiter, double patience_s);

  // Then the backend is the new daemon; or the result is what the waiter waits for, if that came first. Fails
  // if the daemon refuses, because the session was not continued for example, and when the time is over.
  Result<std::optional<Ended>> run(Backend& backend);

 private:
  using Clock = std::chrono::steady_clock;

  Result<std::optional<Ended>> attempt(Backend& backend);
  int left_ms() const;

  const std::string& socket_;
  const Request& request_;
  Waiter& waiter_;
  const double patience_s_;
  const Clock::time_point until_;
  bool is_refused_ = false;  // by the daemon, in the last attempt
};

}  // namespace tracectl
