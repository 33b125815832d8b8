// SPDX-License-Identifier: BSD-2-Clause
#include "client/recording_verbs.h"

#include <algorithm>
#include <array>

#include "client/duration.h"
#include "client/report_page.h"
#include "client/size.h"

namespace tracectl {
namespace {

constexpr std::array kKinds =
    std::to_array<std::string_view>({"u:", "uprobe:", "ur:", "uretprobe:", "U:", "usdt:"});

// The options for the form of sums, which exclude each other.
std::array<CLI::Option*, 2> add_forms(CLI::App& verb, GraphChoice::Form& form) {
  using Form = GraphChoice::Form;
  auto* tree = verb.add_flag_callback(
      "--tree", [&form] { form = Form::tree; }, "the tree of calls, with what they took");
  auto* folded = verb.add_flag_callback(
      "--folded", [&form] { form = Form::folded; },
      "each chain of calls and the own time of its last function, for flame graphs");
  tree->excludes(folded);
  return {tree, folded};
}

// For options other than those of add_forms().
void exclude_each_other(const std::vector<CLI::Option*>& options) {
  for (CLI::Option* one : options)
    for (CLI::Option* other : options)
      if (one != other) one->excludes(other);
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

}  // namespace

void add_graph(CLI::App& app, CommandLine& line) {
  auto& graph = add_verb(app, "graph", "show how functions call, and what the calls take",
                         line.chosen, [&] { return run_graph(line.common, line.trace); });
  graph
      .add_option("FUNCTION", line.trace.probes.patterns,
                  "of the main executable, or OBJECT:FUNCTION, or a pattern uprobe:...")
      ->required();
  add_target_options(graph, line.trace.probes);
  auto* only =
      graph.add_option("--only", line.graph.only, "of the calls below show these functions only");
  only->allow_extra_args(false);
  graph
      .add_flag("--grow", line.graph.grow,
                "add functions that are called by pointer, when they are first called")
      ->excludes(only);
  graph.add_option("--skip", line.graph.skip, "do not show these functions below")
      ->allow_extra_args(false);
  auto* beside =
      graph
          .add_option("--beside", line.graph.beside,
                      "show these USDT probes, too, where they fire: usdt::PROVIDER:NAME")
          ->allow_extra_args(false);
  graph.add_option("--depth", line.graph.depth, "show so many levels of calls at most")
      ->check(CLI::Range(1, 10000));
  auto* least = graph.add_option("--min-duration", line.min_duration,
                                 "show no calls that took less: 10us, 1ms");
  least->check(check_duration);
  auto* keep_if = add_keep_if(graph, line.graph.keep_if);
  auto* arguments =
      graph.add_flag("--arguments", line.graph.arguments, "show what calls are given");
  auto* results = graph.add_flag("--results", line.graph.results, "show what calls return");
  auto* sums = graph.add_flag_callback(
      "--report", [&] { line.graph.form = GraphChoice::Form::functions; },
      "at the end, by function: calls, total, self, least, average, greatest");
  const auto [tree, folded] = add_forms(graph, line.graph.form);
  tree->excludes(sums);
  folded->excludes(sums);
  add_record_to(graph, line);
  auto* output = graph.get_option("--output");
  for (CLI::Option* of_calls : {least, keep_if, arguments, results, beside, output})
    for (CLI::Option* form : {sums, tree, folded}) form->excludes(of_calls);
  output->excludes(least);
  add_returns(graph, line.trace.returns);
  add_how(graph, line);
  tell_of_command(graph);

  auto& report = add_verb(app, "report", "sum up what has been recorded", line.chosen, [&] {
    return line.report.html ? run_report_page(line.common, line.report)
                            : run_report(line.common, line.report);
  });
  report
      .add_option("FILE", line.report.file,
                  "a trace file, or what graph --json has printed; -: that from standard input")
      ->required();
  auto* against = report.add_option("--against", line.report.against,
                                    "tell what has changed since this recording");
  auto* action = report.add_option("--do", line.report.action,
                                   "what events come to: 'count by comm, hist(duration)'");
  auto* when = report.add_option("--when", line.report.when, "only events for which this holds");
  auto* timeline =
      report.add_flag("--timeline", line.report.timeline, "when the events of each thread came");
  auto* html = report.add_option("--html", line.report.html,
                                 "write a trace file as a page for a browser, to this file");
  std::vector<CLI::Option*> kinds{against, action, timeline, html};
  for (CLI::Option* form : add_forms(report, line.report.form)) kinds.push_back(form);
  exclude_each_other(kinds);
  for (CLI::Option* kind : kinds)
    if (kind != action) when->excludes(kind);
  report
      .add_option("-n,--rows", line.trace.rows,
                  "how many rows of a table are printed, first those with most")
      ->check(CLI::NonNegativeNumber);
}

void add_recordings(CLI::App& app, CommandLine& line) {
  auto& record =
      add_verb(app, "record", "record events to a trace file until ^C or the targets end",
               line.chosen, [&] { return run_trace(line.common, line.trace); });
  add_trace_options(record, line);
  add_do(record, line.trace.action);
  add_from(record, line.trace.latency);
  add_record_to(record, line);
  record.get_option("--output")->required();
  tell_of_command(record);

  auto& dump = add_verb(app, "dump", "write what a session's flight recorder holds to a trace file",
                        line.chosen, [&] {
                          return run_dump(line.common, {line.name, line.record});
                        });
  dump.add_option("NAME", line.name, "of the session")->required();
  dump.add_option("-o,--output", line.record.file, "the trace file")->required();
  dump.add_flag("--compress", line.record.compress, "its blocks, by zstd");

  auto& show = add_verb(app, "show", "the events of a trace file", line.chosen,
                        [&] { return run_show(line.common, line.show); });
  show.add_option("FILE", line.show.file, "the trace file")->required();
  show.add_option("--from", line.show_from,
                  "leave out what came sooner after the first: 10s, 500ms")
      ->check(check_duration);
  show.add_option("--to", line.show_to, "leave out what came later after the first")
      ->check(check_duration);
  auto* when = show.add_option("--when", line.show.when,
                               "only events for which this holds: 'duration > 1000000'");
  auto* graph = show.add_flag("--graph", line.show.graph, "calls, as graph shows them");
  graph->excludes(when);
  show.add_flag("--arguments", line.show.arguments, "show what calls are given")->needs(graph);
  show.add_flag("--results", line.show.results, "show what calls return")->needs(graph);

  auto& exported = add_verb(app, "export", "a trace file in the format of another tool",
                            line.chosen, [&] { return run_export(line.common, line.exported); });
  auto* file = exported.add_option("FILE", line.exported.file, "the trace file");
  exported.add_option("--to", line.exported.format, "the format; without FORMAT all are listed")
      ->option_text("[FORMAT]")
      ->expected(0, 1)
      ->required();
  exported
      .add_option("-o,--output", line.exported.output,
                  "where it goes: a file, or a directory that is not there yet; -: standard output")
      ->needs(file);
}

Status complete_graph(CommandLine& line) {
  if (line.common.json && !line.min_duration.empty())
    return Error{Code::invalid, "--json prints every call: leave --min-duration away"};
  if (auto readable = check_form(line.common, line.graph.form); !readable) return readable;
  name_functions(line.trace.probes.patterns);
  name_functions(line.graph.only);
  if (const auto seconds = parse_duration(line.min_duration))
    line.graph.min_duration_ns = static_cast<uint64_t>(*seconds * 1e9);
  line.trace.action =
      line.graph.depth ? "graph(" + std::to_string(*line.graph.depth) + ")" : "graph";
  if (line.graph.arguments) line.trace.action += ", event";
  if (line.graph.form != GraphChoice::Form::calls) line.trace.action += ", time by path";
  line.trace.graph = line.graph;
  return ok();
}

Status complete_recordings(CommandLine& line) {
  if (auto readable = check_form(line.common, line.report.form); !readable) return readable;
  line.report.rows = line.trace.rows;
  line.record.rotate_bytes = parse_size(line.rotate_size);
  if (!line.record.file.empty()) line.trace.record = line.record;
  line.show.from_s = parse_duration(line.show_from);
  line.show.to_s = parse_duration(line.show_to);
  return ok();
}

}  // namespace tracectl
