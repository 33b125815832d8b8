// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <string>

#include "client/backend.h"

namespace tracectl {

// Tells what a session leaves out, as it costs more than the session's budget. An embedded engine looks
// at the budget when it is asked here.
class BudgetWatch {
 public:
  static constexpr int kEveryMs = 100;

  // `in_stream`: also as a line of JSON among events.
  BudgetWatch(Backend& backend, std::string session, bool in_stream)
      : backend_(backend), session_(std::move(session)), in_stream_(in_stream) {}

  // To be called as often as may be.
  Status go_on();
  // Now, whatever the time.
  Status look();
  bool has_budget() const { return last_.budget.has_value(); }
  // Something was left out, and it was the last.
  bool is_nothing_left() const { return !last_.left_out.empty() && last_.probes == 0; }
  Error nothing_left() const;

 private:
  using Clock = std::chrono::steady_clock;

  Backend& backend_;
  std::string session_;
  bool in_stream_;
  Clock::time_point next_ = Clock::now();
  protocol::BudgetReply last_;
};

}  // namespace tracectl
