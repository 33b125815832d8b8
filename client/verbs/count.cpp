// SPDX-License-Identifier: BSD-2-Clause
//
// count, hist, time and latency.
#include <string>

#include "client/options/whole_object.h"
#include "client/output/output.h"
#include "client/render/folded.h"
#include "client/render/keys.h"
#include "client/render/rows.h"
#include "client/verbs/all.h"
#include "client/verbs/live_trace.h"
#include "client/verbs/shared_options.h"
#include "client/verbs/tracing_verb.h"
#include "daemon/protocol/stacks.h"

namespace tracectl {
namespace {

using namespace protocol;

std::string folded_text(const ReadReply& read) {
  FoldedStacks folded;
  for (const RowPart& row : read.rows)
    if (auto stack = stack_of(row.stack, row.stack_by, row.stack_end); stack && *stack)
      folded.add(**stack, row.count);
  return folded.text();
}

// Counts in the kernel, and shows rows at the end.
class CountingVerb : public TracingVerb {
 public:
  int run(const CommonOptions& common) override {
    const auto count = [&](Backend&, LiveTrace& trace) -> int {
      const auto ended = trace.run();
      if (const auto nothing = trace.why_nothing()) return trace.status_without(ended, *nothing);
      auto rows = trace.read(common.quiet);
      if (!rows) return trace.failed(rows.error());
      show<ReadReply>(common, *rows,
                      [&](const ReadReply& reply) { return text_of(reply, trace.keys()); });
      return trace.status_of(ended);
    };
    return with_trace(common, trace_, LiveTrace::Stream::none, count);
  }

 private:
  std::string text_of(const ReadReply& reply, const std::vector<KeyView>& keys) const {
    if (trace_.folded) return folded_text(reply);
    return first_rows_text(titled(reply, keys), trace_.rows);
  }
};

class CountHits final : public CountingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_trace_options(grammar);
    add_by(grammar);
    add_folded(grammar, "count by stack, and print the stacks as flame graphs want them");
    grammar.starts_command();
  }
  Status complete(const CommonOptions& common) override {
    if (trace_.folded && !by_) by_ = "stack";
    return TracingVerb::complete(common);
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
    grammar.starts_command();
  }

 protected:
  std::string action() const override { return "time"; }
};

class MeasureLatency final : public CountingVerb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("--from", trace_.latency.from, "the pattern at which the time begins")
        .required()
        .rewritten(with_whole_object);
    grammar.option("--to", trace_.probes.patterns, "the pattern at which it ends")
        .required()
        .expects(1, 1)
        .rewritten(with_whole_object);
    add_pair_options(grammar, trace_.latency);
    grammar.option("--per", by_, "a row for each value of these, known at the end: 'str(arg0)'");
    add_target_options(grammar, trace_.probes);
    add_types(grammar, trace_.types);
    add_how(grammar);
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
