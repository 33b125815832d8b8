// SPDX-License-Identifier: BSD-2-Clause
//
// count, hist, time and latency.
#include <optional>
#include <string>
#include <vector>

#include "client/options/duration.h"
#include "client/options/whole_object.h"
#include "client/output/output.h"
#include "client/output/screen.h"
#include "client/render/folded.h"
#include "client/render/keys.h"
#include "client/render/row_order.h"
#include "client/render/rows.h"
#include "client/verbs/all.h"
#include "client/verbs/interval.h"
#include "client/verbs/live_trace.h"
#include "client/verbs/shared_options.h"
#include "client/verbs/tracing_verb.h"
#include "daemon/protocol/stacks.h"

namespace tracectl {
namespace {

using namespace protocol;

std::string folded_text(const ReadReply& read, StackFormat format) {
  FoldedStacks folded(format);
  for (const RowPart& row : read.rows)
    if (auto stack = stack_of(row.stack, row.stack_by, row.stack_end); stack && *stack)
      folded.add(**stack, row.count);
  return folded.text();
}

// Counts in the kernel, and shows rows at the end; with --interval also before.
class CountingVerb : public TracingVerb {
 public:
  Status complete(const CommonOptions& common) override {
    interval_s_ = parse_duration(interval_);
    if (interval_s_ && trace_.folded)
      return Error{Code::invalid, "--folded is for the end: leave --interval away"};
    return TracingVerb::complete(common);
  }

  int run(const CommonOptions& common) override {
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

 protected:
  void add_interval(Grammar& grammar) {
    tracectl::add_interval(grammar, interval_,
                           "also print the rows so far, each time when this is over: 1s, 500ms");
  }

  RowOrder order_ = RowOrder::total;

 private:
  Result<Ended> run_with_tables(const CommonOptions& common, LiveTrace& trace) const {
    Interval interval(*interval_s_);
    const auto go_on = [&]() -> Result<bool> {
      const auto after_s = interval.due();
      return after_s ? print_table(common, trace, *after_s) : true;
    };
    return trace.run({.go_on = go_on, .every_ms = interval.every_ms()});
  }

  Result<ReadReply> rows_of(LiveTrace& trace) const {
    auto rows = trace.read();
    if (rows) sort_rows(rows->rows, order_);
    return rows;
  }

  Result<bool> print_table(const CommonOptions& common, LiveTrace& trace, double after_s) const {
    auto rows = rows_of(trace);
    if (!rows) return rows.error();
    return print_rows_so_far(common, *rows, after_s,
                             [&] { return text_of(common, *rows, trace.keys()); });
  }

  std::string text_of(const CommonOptions& common, const ReadReply& reply,
                      const std::vector<KeyView>& keys) const {
    if (trace_.folded) return folded_text(reply, common.stack_format);
    return first_rows_text(titled(reply, keys), trace_.rows);
  }

  std::string interval_;
  std::optional<double> interval_s_;
};

class CountHits final : public CountingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_trace_options(grammar);
    add_by(grammar);
    add_interval(grammar);
    add_folded(grammar, "count by stack, and print the stacks as flame graphs want them");
    grammar.starts_command();
  }
  Status complete(const CommonOptions& common) override {
    if (trace_.folded && !by_) by_ = "stack";
    return CountingVerb::complete(common);
  }

 protected:
  std::string action() const override { return "count"; }
};

class MakeHistogram final : public CountingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_trace_options(grammar);
    grammar.option("--of", of_, "the value: arg2, 'arg1 - arg0', 'u32(arg0 + 8)'").required();
    add_by(grammar);
    add_interval(grammar);
    grammar.starts_command();
  }

 protected:
  std::string action() const override { return "hist(" + of_ + ")"; }

 private:
  std::string of_;
};

class TimeCalls final : public CountingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_trace_options(grammar);
    add_by(grammar);
    add_interval(grammar);
    grammar.option("--sort", sort_, "the column by which rows are sorted: " + row_order_names())
        .value_name("COLUMN")
        .shows_default()
        .check([](const std::string& name) { return wrong_in(name); });
    grammar.starts_command();
  }
  Status complete(const CommonOptions& common) override {
    order_ = *row_order_named(sort_);
    return CountingVerb::complete(common);
  }

 protected:
  std::string action() const override { return "time"; }

 private:
  static std::string wrong_in(const std::string& name) {
    if (row_order_named(name)) return "";
    return "time cannot sort by \"" + name + "\": its columns are " + row_order_names();
  }

  std::string sort_ = "total";
};

class MeasureLatency final : public CountingVerb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("--from", trace_.latency.from, "the pattern at which the time begins")
        .value_name("PATTERN")
        .required()
        .rewritten(with_whole_object);
    grammar.option("--to", trace_.probes.patterns, "the pattern at which it ends")
        .value_name("PATTERN")
        .required()
        .expects(1, 1)
        .rewritten(with_whole_object);
    add_pair_options(grammar, trace_.latency);
    grammar.option("--per", by_, "a row for each value of these, known at the end: 'str(arg0)'");
    add_target_options(grammar, trace_.probes);
    add_types(grammar, trace_.types);
    add_how(grammar);
    add_interval(grammar);
    grammar.starts_command();
  }

 protected:
  std::string action() const override { return "time"; }
};

}  // namespace

void add_count(Grammar grammar) {
  grammar.verb<CountHits>("count", "count hits in the kernel until ^C or the targets end");
  grammar.verb<MakeHistogram>("hist", "histogram of a value, until ^C or the targets end");
  grammar.verb<TimeCalls>("time", "what calls take, until ^C or the targets end");
  grammar.verb<MeasureLatency>("latency", "the time from one probe to another, matched by a key");
}

}  // namespace tracectl
