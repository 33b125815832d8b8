// SPDX-License-Identifier: BSD-2-Clause
//
// count, hist, time and latency.
#include <string>

#include "client/options/whole_object.h"
#include "client/render/row_order.h"
#include "client/verbs/all.h"
#include "client/verbs/counting_verb.h"
#include "client/verbs/shared_options.h"

namespace tracectl {
namespace {

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
    add_split(grammar, split_);
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
  std::string action() const override { return split_ ? "time, split" : "time"; }

 private:
  static std::string wrong_in(const std::string& name) {
    if (row_order_named(name)) return "";
    return "time cannot sort by \"" + name + "\": its columns are " + row_order_names();
  }

  std::string sort_ = "total";
  bool split_ = false;
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
    add_split(grammar, split_);
    add_interval(grammar);
    grammar.starts_command();
  }

 protected:
  std::string action() const override { return split_ ? "time, split" : "time"; }

 private:
  bool split_ = false;
};

}  // namespace

void add_count(Grammar grammar) {
  grammar.verb<CountHits>("count", "count hits in the kernel until ^C or the targets end");
  grammar.verb<MakeHistogram>("hist", "histogram of a value, until ^C or the targets end");
  grammar.verb<TimeCalls>("time", "what calls take, until ^C or the targets end");
  grammar.verb<MeasureLatency>("latency", "the time from one probe to another, matched by a key");
}

}  // namespace tracectl
