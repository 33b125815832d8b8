// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/budget.h"

#include <fmt/format.h>

#include "client/output/output.h"

namespace tracectl {

using namespace protocol;

Status BudgetWatch::go_on() { return Clock::now() < next_ ? ok() : look(); }

Status BudgetWatch::look() {
  auto reply = backend_.call(SessionBudget{session_});
  if (!reply) return reply.error();
  next_ = Clock::now() + std::chrono::milliseconds(kEveryMs);
  for (size_t i = last_.left_out.size(); i < reply->left_out.size(); ++i) {
    const LeftOutPart& one = reply->left_out[i];
    print_error("tracectl: left out: " + left_out_text(one) + "\n");
    if (in_stream_) print("{\"left_out\":" + text_of(to_json(one)) + "}\n");
  }
  last_ = std::move(*reply);
  return ok();
}

Error BudgetWatch::nothing_left() const {
  return Error{Code::exhausted,
               fmt::format("nothing is left to trace within a budget of {:g} %: choose probes that "
                           "are hit less often, or give a larger --budget",
                           last_.budget.value_or(0)),
               "budget"};
}

}  // namespace tracectl
