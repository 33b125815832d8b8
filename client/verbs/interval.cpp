// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/interval.h"

#include <fmt/format.h>

#include <cstdio>

#include "client/options/duration.h"
#include "client/output/output.h"
#include "client/output/screen.h"

namespace tracectl {

void add_interval(Grammar& grammar, std::string& interval, const std::string& help) {
  grammar.option("--interval", interval, help).check(check_interval);
}

Interval::Interval(double seconds)
    : every_(
          std::chrono::round<std::chrono::milliseconds>(std::chrono::duration<double>(seconds))) {}

std::optional<double> Interval::due() {
  const auto now = Clock::now();
  if (now < due_) return std::nullopt;
  due_ = now + every_;
  return std::chrono::duration<double>(now - began_).count();
}

bool print_rows_so_far(const CommonOptions& common, const protocol::ReadReply& rows, double after_s,
                       const std::function<std::string()>& as_text) {
  if (common.json)
    print(protocol::text_of(protocol::to_json(rows)) + "\n");
  else
    print_in_place(fmt::format("after {:.1f} s:\n", after_s) + as_text());
  return std::fflush(stdout) == 0;
}

}  // namespace tracectl
