// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "client/connection/backend.h"

namespace tracectl {

// Reports the probes that a session leaves out because they cost more than its budget. An embedded engine
// checks the budget when it is asked here.
class BudgetWatch {
 public:
  static constexpr int kEveryMs = 100;

  // `in_stream`: also as a line of JSON among events.
  BudgetWatch(Backend& backend, std::string session, bool in_stream)
      : backend_(backend), session_(std::move(session)), in_stream_(in_stream) {}

  // Call it often; it asks every kEveryMs.
  Status go_on();
  // Asks now.
  Status look();
  bool has_budget() const { return last_.budget.has_value(); }
  // Something was left out, and no probe remains.
  bool is_nothing_left() const { return !last_.left_out.empty() && last_.probes == 0; }
  Error nothing_left() const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kMostNamed = 10;  // on standard error; of the others it says how many

  void report(std::span<const protocol::LeftOutPart> more);

  Backend& backend_;
  std::string session_;
  bool in_stream_;
  Clock::time_point next_ = Clock::now();
  protocol::BudgetReply last_;
  size_t named_ = 0;
};

}  // namespace tracectl
