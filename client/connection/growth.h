// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <string>

#include "client/connection/backend.h"

namespace tracectl {

// Lets a session's graphs grow periodically, and reports what was added.
class Growth {
 public:
  static constexpr int kEveryMs = 300;

  Growth(Backend& backend, std::string session) : backend_(backend), session_(std::move(session)) {}

  // Call it often; it asks every kEveryMs. Reports once that it cannot go on.
  void go_on();

 private:
  using Clock = std::chrono::steady_clock;

  Backend& backend_;
  std::string session_;
  Clock::time_point next_ = Clock::now();
  bool ended_ = false;
};

}  // namespace tracectl
