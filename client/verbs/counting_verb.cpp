// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/counting_verb.h"

#include "client/options/duration.h"
#include "client/output/output.h"
#include "client/output/screen.h"
#include "client/render/folded.h"
#include "client/render/quantiles.h"
#include "client/render/row_order.h"
#include "client/render/rows.h"
#include "client/verbs/interval.h"
#include "daemon/protocol/stacks.h"

namespace tracectl {
namespace {

using namespace protocol;

std::string folded_text(const ReadReply& read, StackFormat format) {
  FoldedStacks folded(format);
  for (const RowPart& row : read.rows)
    if (auto stack = stack_of(row.stack, row.stack_by, row.stack_end); stack && *stack)
      folded.add(**stack, is_of_blocks(row) ? ns_of(row.sum).value_or(0) : row.count);
  return folded.text();
}

}  // namespace

void CountingVerb::add_interval(Grammar& grammar) {
  tracectl::add_interval(grammar, interval_,
                         "also print the rows so far, each time when this is over: 1s, 500ms");
}

Status CountingVerb::complete(const CommonOptions& common) {
  interval_s_ = parse_duration(interval_);
  if (interval_s_ && trace_.folded)
    return Error{Code::invalid, "--folded is for the end: leave --interval away"};
  return TracingVerb::complete(common);
}

int CountingVerb::run(const CommonOptions& common) {
  const auto count = [&](Backend&, LiveTrace& trace) -> int {
    const auto ended = interval_s_ ? run_with_tables(common, trace) : trace.run();
    if (const auto nothing = trace.why_nothing()) return trace.status_without(ended, *nothing);
    auto rows = rows_of(trace);
    if (!rows) return trace.failed(rows.error());
    if (common.json)
      print(protocol::text_of(to_json(*rows)) + "\n");
    else if (interval_s_)
      print_last_in_place(text_of(common, *rows, trace.keys()));
    else
      print(text_of(common, *rows, trace.keys()));
    return trace.status_of(ended);
  };
  return with_trace(common, trace_, LiveTrace::Stream::none, count);
}

Result<Ended> CountingVerb::run_with_tables(const CommonOptions& common, LiveTrace& trace) const {
  Interval interval(*interval_s_);
  const auto go_on = [&]() -> Result<bool> {
    const auto after_s = interval.due();
    return after_s ? print_table(common, trace, *after_s) : true;
  };
  return trace.run({.go_on = go_on, .every_ms = interval.every_ms()});
}

Result<ReadReply> CountingVerb::rows_of(LiveTrace& trace) const {
  auto rows = trace.read();
  if (rows) sort_rows(rows->rows, order_);
  return rows;
}

Result<bool> CountingVerb::print_table(const CommonOptions& common, LiveTrace& trace,
                                       double after_s) const {
  auto rows = rows_of(trace);
  if (!rows) return rows.error();
  return print_rows_so_far(common, *rows, after_s,
                           [&] { return text_of(common, *rows, trace.keys()); });
}

std::string CountingVerb::text_of(const CommonOptions& common, const ReadReply& reply,
                                  const std::vector<KeyView>& keys) const {
  if (trace_.folded) return folded_text(reply, common.stack_format);
  return first_rows_text(titled(reply, keys), trace_.rows);
}

}  // namespace tracectl
