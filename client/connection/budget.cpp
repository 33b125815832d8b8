// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/output/output.h"

namespace tracectl {

using namespace protocol;

Status BudgetWatch::go_on() { return Clock::now() < next_ ? ok() : look(); }

Status BudgetWatch::look() {
  auto reply = backend_.call(SessionBudget{session_});
  if (!reply) return reply.error();
  next_ = Clock::now() + std::chrono::milliseconds(kEveryMs);
  report(
      std::span{reply->left_out}.subspan(std::min(last_.left_out.size(), reply->left_out.size())));
  last_ = std::move(*reply);
  return ok();
}

void BudgetWatch::report(std::span<const LeftOutPart> more) {
  size_t unnamed = 0;
  for (const LeftOutPart& one : more) {
    if (in_stream_) print("{\"left_out\":" + text_of(to_json(one)) + "}\n");
    if (named_ == kMostNamed) {
      ++unnamed;
      continue;
    }
    print_error("tracectl: left out: " + left_out_text(one) + "\n");
    ++named_;
  }
  if (unnamed) print_error("tracectl: left out: " + plural(unnamed, "more probe") + "\n");
}

Error BudgetWatch::nothing_left() const {
  return Error{Code::exhausted,
               fmt::format("nothing is left to trace within a budget of {:g} %: choose probes that "
                           "are hit less often, or give a larger --budget",
                           last_.budget.value_or(0)),
               "budget"};
}

}  // namespace tracectl
