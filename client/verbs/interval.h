// SPDX-License-Identifier: BSD-2-Clause
//
// --interval: the rows so far, again and again.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "client/options/options.h"
#include "client/verbs/grammar.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// The value is checked: 10 ms to a day.
void add_interval(Grammar& grammar, std::string& interval, const std::string& help);

// Says when the next table is due. Begins with its construction.
class Interval {
 public:
  explicit Interval(double seconds);

  int every_ms() const { return static_cast<int>(every_.count()); }
  // The seconds since the beginning, if a table is due; the next one is so after the interval.
  std::optional<double> due();

 private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds every_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point due_ = began_ + every_;
};

// Prints the rows as they were then, in the place of those before. False: nobody reads it any more.
bool print_rows_so_far(const CommonOptions& common, const protocol::ReadReply& rows, double after_s,
                       const std::function<std::string()>& as_text);

}  // namespace tracectl
