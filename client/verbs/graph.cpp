// SPDX-License-Identifier: BSD-2-Clause
#include <string>
#include <vector>

#include "client/options/duration.h"
#include "client/options/whole_object.h"
#include "client/output/output.h"
#include "client/render/call_tree.h"
#include "client/render/text.h"
#include "client/verbs/all.h"
#include "client/verbs/graph_form.h"
#include "client/verbs/live_trace.h"
#include "client/verbs/shared_options.h"
#include "client/verbs/trace_output.h"
#include "client/verbs/tracing_verb.h"

namespace tracectl {
namespace {

// Reports what the sums lack.
void report_missing(const protocol::ReadReply& read) {
  if (read.dropped_keys)
    print_error("tracectl: note: " + plural(read.dropped_keys, "call") +
                " not counted: there was no room for more ways of calls; name fewer functions, or "
                "set --depth\n");
  if (read.cut)
    print_error("tracectl: note: " + plural(read.cut, "call") +
                " cut off: too many were open in their thread\n");
}

class ShowGraph final : public TracingVerb {
 public:
  void add_options(Grammar& grammar) override {
    grammar
        .option("FUNCTION", trace_.probes.patterns,
                "FUNCTION, OBJECT:FUNCTION or uprobe:OBJECT:FUNCTION")
        .required()
        .rewritten(with_whole_object);
    add_target_options(grammar, trace_.probes);
    add_choice(grammar);
    add_returns(grammar, trace_.returns);
    add_how(grammar);
    grammar.starts_command();
  }

  Status complete(const CommonOptions& common) override {
    if (common.json && !min_duration_.empty())
      return Error{Code::invalid, "--json prints every call: leave --min-duration away"};
    if (auto readable = check_form(common, choice_.form); !readable) return readable;
    if (const auto seconds = parse_duration(min_duration_))
      choice_.min_duration_ns = static_cast<uint64_t>(*seconds * 1e9);
    trace_.graph = choice_;
    trace_.record = record_.chosen();
    return TracingVerb::complete(common);
  }

  int run(const CommonOptions& common) override {
    if (choice_.form != GraphForm::calls) return sum_up(common);
    return trace_.record ? record_events(common, trace_) : print_events(common, trace_);
  }

 protected:
  std::string action() const override {
    std::string action = choice_.depth ? "graph(" + std::to_string(*choice_.depth) + ")" : "graph";
    if (choice_.arguments) action += ", event";
    if (split_) action += ", split";
    if (syscalls_) action += ", syscalls";
    if (choice_.form != GraphForm::calls) action += ", time by path";
    return action;
  }

 private:
  // What is shown below the calls, and how.
  void add_choice(Grammar& grammar) {
    const Option only =
        grammar.option("--only", choice_.only, "of the calls below show these functions only")
            .one_at_a_time()
            .rewritten(with_whole_object);
    grammar
        .flag("--imports", choice_.imports,
              "show the functions of libraries that these call, too: malloc(), strlen()")
        .excludes(only);
    grammar
        .flag("--grow", choice_.grow,
              "add functions that are called by pointer, when they are first called")
        .excludes(only);
    grammar.option("--skip", choice_.skip, "do not show these functions below").one_at_a_time();
    const Option beside =
        grammar
            .option("--beside", choice_.beside,
                    "show these USDT probes, too, where they fire: usdt::PROVIDER:NAME")
            .one_at_a_time()
            .rewritten(with_whole_object);
    grammar.option("--depth", choice_.depth, "show so many levels of calls at most")
        .in_range(1, 10000);
    const Option least =
        grammar.option("--min-duration", min_duration_, "show no calls that took less: 10us, 1ms")
            .check(check_duration);
    const Option keep_if = add_keep_if(grammar, choice_.keep_if);
    const Option arguments =
        grammar.flag("--arguments", choice_.arguments, "show what calls are given");
    const Option results = grammar.flag("--results", choice_.results, "show what calls return");
    const Option syscalls = grammar.flag("--syscalls", syscalls_,
                                         "show the system calls within these calls, too; for root");
    const Option sums = grammar.flag(
        "--report", [this] { choice_.form = GraphForm::functions; },
        "at the end, by function: calls, total, self, least, average, greatest");
    auto [tree, folded] = add_forms(grammar, choice_.form);
    tree.excludes(sums);
    folded.excludes(sums);
    add_split(grammar, split_);
    Option output = record_.add_to(grammar);
    for (const Option& of_calls : {least, keep_if, arguments, results, syscalls, beside, output})
      for (Option form : {sums, tree, folded}) form.excludes(of_calls);
    output.excludes(least);
  }

  int sum_up(const CommonOptions& common) const {
    const auto trace_calls = [&](Backend&, LiveTrace& trace) -> int {
      const auto ended = trace.run();
      auto read = trace.read();
      if (!read) return trace.failed(read.error());
      CallTree calls;
      calls.add(read->paths.value_or(std::vector<protocol::PathPart>{}), read->rows);
      print_sums(common, calls, choice_.form, trace_.rows, read->dropped_keys + read->cut);
      report_missing(*read);
      return trace.status_of(ended);
    };
    return with_trace(common, trace_, LiveTrace::Stream::none, trace_calls);
  }

  GraphChoice choice_;
  std::string min_duration_;
  bool split_ = false, syscalls_ = false;
  RecordOptions record_;
};

}  // namespace

void add_graph(Grammar grammar) {
  grammar.verb<ShowGraph>("graph", "show how functions call, and what the calls take");
}

}  // namespace tracectl
