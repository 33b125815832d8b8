// SPDX-License-Identifier: BSD-2-Clause
//
// How functions call: live, and summed up from a recording.
#include <algorithm>
#include <array>
#include <string_view>

#include "client/options/duration.h"
#include "client/page/report_page.h"
#include "client/verbs/all.h"
#include "client/verbs/tracing.h"

namespace tracectl {
namespace {

constexpr std::array kKinds =
    std::to_array<std::string_view>({"u:", "uprobe:", "ur:", "uretprobe:", "U:", "usdt:"});

// The options for the form of sums, which exclude each other.
std::array<Option, 2> add_forms(Grammar& grammar, GraphChoice::Form& form) {
  using Form = GraphChoice::Form;
  Option tree = grammar.flag(
      "--tree", [&form] { form = Form::tree; }, "the tree of calls, with what they took");
  const Option folded = grammar.flag(
      "--folded", [&form] { form = Form::folded; },
      "each chain of calls and the own time of its last function, for flame graphs");
  tree.excludes(folded);
  return {tree, folded};
}

// For options other than those of add_forms().
void exclude_each_other(const std::vector<Option>& options) {
  for (Option one : options)
    for (const Option& other : options)
      if (one != other) one.excludes(other);
}

// A bare FUNCTION is searched in the main executable, OBJECT:FUNCTION in that object.
void name_functions(std::vector<std::string>& patterns) {
  for (std::string& pattern : patterns) {
    const bool has_kind = std::any_of(kKinds.begin(), kKinds.end(), [&](std::string_view kind) {
      return pattern.starts_with(kind);
    });
    if (has_kind) continue;
    const size_t colon = pattern.find(':');
    const bool has_object = colon != std::string::npos && !pattern.substr(colon).starts_with("::");
    pattern = (has_object ? "uprobe:" : "uprobe::") + pattern;
  }
}

Status check_form(const CommonOptions& common, GraphChoice::Form form) {
  if (!common.json || form != GraphChoice::Form::folded) return ok();
  return Error{Code::invalid,
               "--folded is for programs that read its text: with --json take --tree"};
}

class Graph final : public TracingVerb {
 public:
  void add_options(Grammar& grammar) override {
    grammar
        .option("FUNCTION", trace_.probes.patterns,
                "of the main executable, or OBJECT:FUNCTION, or a pattern uprobe:...")
        .required();
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
    name_functions(trace_.probes.patterns);
    name_functions(choice_.only);
    if (const auto seconds = parse_duration(min_duration_))
      choice_.min_duration_ns = static_cast<uint64_t>(*seconds * 1e9);
    trace_.graph = choice_;
    trace_.record = record_.chosen();
    return TracingVerb::complete(common);
  }

  int run(const CommonOptions& common) override { return run_graph(common, trace_); }

 protected:
  std::string action() const override {
    std::string action = choice_.depth ? "graph(" + std::to_string(*choice_.depth) + ")" : "graph";
    if (choice_.arguments) action += ", event";
    if (choice_.form != GraphChoice::Form::calls) action += ", time by path";
    return action;
  }

 private:
  // What is shown below the calls, and how.
  void add_choice(Grammar& grammar) {
    const Option only =
        grammar.option("--only", choice_.only, "of the calls below show these functions only")
            .one_at_a_time();
    grammar
        .flag("--grow", choice_.grow,
              "add functions that are called by pointer, when they are first called")
        .excludes(only);
    grammar.option("--skip", choice_.skip, "do not show these functions below").one_at_a_time();
    const Option beside =
        grammar
            .option("--beside", choice_.beside,
                    "show these USDT probes, too, where they fire: usdt::PROVIDER:NAME")
            .one_at_a_time();
    grammar.option("--depth", choice_.depth, "show so many levels of calls at most")
        .in_range(1, 10000);
    const Option least =
        grammar.option("--min-duration", min_duration_, "show no calls that took less: 10us, 1ms")
            .check(check_duration);
    const Option keep_if = add_keep_if(grammar, choice_.keep_if);
    const Option arguments =
        grammar.flag("--arguments", choice_.arguments, "show what calls are given");
    const Option results = grammar.flag("--results", choice_.results, "show what calls return");
    const Option sums = grammar.flag(
        "--report", [this] { choice_.form = GraphChoice::Form::functions; },
        "at the end, by function: calls, total, self, least, average, greatest");
    auto [tree, folded] = add_forms(grammar, choice_.form);
    tree.excludes(sums);
    folded.excludes(sums);
    Option output = record_.add_to(grammar);
    for (const Option& of_calls : {least, keep_if, arguments, results, beside, output})
      for (Option form : {sums, tree, folded}) form.excludes(of_calls);
    output.excludes(least);
  }

  GraphChoice choice_;
  std::string min_duration_;
  RecordOptions record_;
};

class Report final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar
        .option("FILE", report_.file,
                "a trace file, or what graph --json has printed; -: that from standard input")
        .required();
    const Option against =
        grammar.option("--against", report_.against, "tell what has changed since this recording");
    const Option action = grammar.option("--do", report_.action,
                                         "what events come to: 'count by comm, hist(duration)'");
    Option when = grammar.option("--when", report_.when, "only events for which this holds");
    const Option timeline =
        grammar.flag("--timeline", report_.timeline, "when the events of each thread came");
    const Option html = grammar.option("--html", report_.html,
                                       "write a trace file as a page for a browser, to this file");
    std::vector<Option> kinds{against, action, timeline, html};
    for (const Option& form : add_forms(grammar, report_.form)) kinds.push_back(form);
    exclude_each_other(kinds);
    for (const Option& kind : kinds)
      if (kind != action) when.excludes(kind);
    add_rows(grammar, report_.rows);
  }

  Status complete(const CommonOptions& common) override { return check_form(common, report_.form); }

  int run(const CommonOptions& common) override {
    return report_.html ? run_report_page(common, report_) : run_report(common, report_);
  }

 private:
  ReportOptions report_;
};

}  // namespace

void add_graphs(Grammar grammar) {
  grammar.verb<Graph>("graph", "show how functions call, and what the calls take");
  grammar.verb<Report>("report", "sum up what has been recorded");
}

}  // namespace tracectl
