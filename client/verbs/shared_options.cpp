// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/shared_options.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "client/options/size.h"
#include "client/options/trace_file_name.h"
#include "client/options/whole_object.h"
#include "client/output/output.h"
#include "client/render/text.h"
#include "daemon/protocol/messages/recordings.h"

namespace tracectl {

using protocol::RotatePart;

namespace {

std::string check_pod(const std::string& pod) {
  const size_t slash = pod.find('/');
  const bool has_both = slash != pod.npos && slash > 0 && slash + 1 < pod.size();
  return has_both ? "" : "NAMESPACE/NAME is wanted, not \"" + pod + '"';
}

}  // namespace

void add_target_options(Grammar& grammar, ProbeOptions& probes) {
  grammar.option("-p,--pid", probes.pids, "a process, repeatable")
      .value_name("PID")
      .one_at_a_time();
  grammar
      .option("-x,--executable", probes.executables,
              "every process that runs this file, now or later; repeatable")
      .value_name("PROGRAM")
      .one_at_a_time();
  grammar
      .option("-u,--unit", probes.units,
              "every process of this unit of systemd's, now or later; repeatable")
      .value_name("UNIT")
      .check([](const std::string& unit) {
        return std::string(unit.empty() ? "a unit is wanted, as ssh.service" : "");
      })
      .one_at_a_time();
  grammar
      .option("--cgroup", probes.cgroups,
              "every process in this cgroup or below it, now or later; repeatable")
      .value_name("CGROUP")
      .one_at_a_time();
  grammar
      .option("--container", probes.containers,
              "every process of this running container, now or later; repeatable")
      .value_name("NAME|ID")
      .one_at_a_time();
  grammar
      .option("--pod", probes.pods,
              "every process of this pod of Kubernetes, now or later; repeatable")
      .value_name("NAMESPACE/NAME")
      .check(check_pod)
      .one_at_a_time();
  grammar.flag("-f,--follow", probes.follow, "children forked later, too, and theirs");
  grammar.flag("--first-child", probes.first_child, "the first child forked later, too");
  grammar.flag("-a,--all", probes.all, "every process that maps the object");
  const Option global =
      grammar.flag("--global", probes.global, "only functions in the dynamic symbol table");
  const Option local = grammar.flag("--local", probes.local, "every function, which is the default")
                           .excludes(global);
  grammar
      .flag("--inlined", probes.inlined,
            "every function, and where it was inlined into others, by debug information")
      .excludes(global)
      .excludes(local);
}

namespace {

Option add_patterns(Grammar& grammar, ProbeOptions& probes) {
  return grammar
      .option("PATTERN", probes.patterns,
              "FUNCTION, OBJECT:FUNCTION, uprobe:OBJECT:FUNCTION[+OFFSET], OBJECT@FILE:LINE, "
              "'FUNCTION in HOST' or usdt:OBJECT:PROVIDER:NAME")
      .rewritten(with_whole_object);
}

}  // namespace

void add_probe_options(Grammar& grammar, ProbeOptions& probes) {
  add_patterns(grammar, probes).required();
  add_target_options(grammar, probes);
}

void add_optional_probe_options(Grammar& grammar, ProbeOptions& probes) {
  add_patterns(grammar, probes);
  add_target_options(grammar, probes);
}

void add_do(Grammar& grammar, std::string& action) {
  grammar.option("--do", action, "what a hit does: event, event(arg0), 'count by tid', hist(arg1)");
}

void add_when(Grammar& grammar, std::optional<std::string>& when) {
  grammar.option("--when", when, "only hits for which this holds: 'arg1 > 4096 && pid != 7'");
}

Option add_keep_if(Grammar& grammar, std::optional<std::string>& keep_if) {
  return grammar.option("--keep-if", keep_if,
                        "of a graph: only calls for which this holds at their end: 'duration > "
                        "1000000 || thrown'");
}

void add_types(Grammar& grammar, std::string& types) {
  grammar
      .option("--types", types,
              "a provider file (.d) with the types and names of the arguments of USDT probes")
      .value_name("FILE");
}

void add_returns(Grammar& grammar, std::string& returns) {
  grammar.option("--returns", returns,
                 "how returns are seen: auto, exits, or trampoline, which kills a program that "
                 "leaves a call by an exception");
}

void add_pair_options(Grammar& grammar, LatencyOptions& latency) {
  grammar.option("--by", latency.by,
                 "what both hits have in common: tid, which is the default, arg0, 'str(arg0)'");
  grammar.option("--slowest", latency.slowest, "how many of the longest times are listed: 5")
      .in_range(0, 32);
}

void add_split(Grammar& grammar, bool& split) {
  grammar.flag("--split", split, "show for how long threads were running, runnable and blocked");
}

void add_from(Grammar& grammar, LatencyOptions& latency) {
  grammar
      .option("--from", latency.from,
              "measure the time from a hit of this pattern to one of PATTERN")
      .value_name("PATTERN")
      .rewritten(with_whole_object);
  add_pair_options(grammar, latency);
}

void add_refusals(Grammar& grammar, bool& partial, bool& strict) {
  grammar.flag(
      "--partial", partial,
      "arm the rest where sites are refused that a pattern names, or patterns match nothing");
  grammar.flag(
      "--strict", strict,
      "arm nothing where any site is refused; with a command, exit with 125 if tracing fails");
}

constexpr uint64_t kMostWithoutYes = 10000;

void add_yes(Grammar& grammar, bool& yes) {
  grammar.flag("--yes", yes,
               fmt::format("add more than {} sites at once, whatever they take", kMostWithoutYes));
}

std::optional<uint64_t> most_added(bool yes) {
  return yes ? std::nullopt : std::optional(kMostWithoutYes);
}

static std::string not_a_percentage(const std::string& text) {
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  if (!text.empty() && !*end && percent > 0 && std::isfinite(percent)) return {};
  return "percent of a CPU are wanted, as 5 or 0.5, not " + text;
}

void add_budget(Grammar& grammar, std::optional<double>& budget) {
  grammar
      .option("--budget", budget,
              "leave out probes while all hits together cost more than this: percent of a CPU")
      .value_name("PERCENT")
      .check(not_a_percentage);
}

Option add_rows(Grammar& grammar, size_t& rows) {
  rows = is_terminal() ? SIZE_MAX : kRowsForPrograms;
  return grammar
      .option("-n,--rows", rows,
              fmt::format("how many rows of a table are printed, first those with most, or all; "
                          "{} if left out and standard output is no terminal",
                          kRowsForPrograms))
      .value_name("N")
      .rewritten(
          [](const std::string& text) { return text == "all" ? std::to_string(SIZE_MAX) : text; })
      .not_negative();
}

Option RecordOptions::add_to(Grammar& grammar) {
  const bool records_anyway = !to.file.empty();
  const Option file =
      grammar
          .option("-o,--output", to.file,
                  "record to this trace file; in a directory the file is named by the time")
          .value_name("FILE");
  Option compress = grammar.flag("--compress", to.compress, "its blocks, by zstd");
  Option rotate =
      grammar
          .option("--rotate", rotate_size,
                  "record to numbered files, out.0.tct and so on; the next begins at this size: "
                  "64M, 1G")
          .value_name("SIZE")
          .check([](const std::string& text) { return check_size(text, RotatePart::kLeastBytes); });
  if (!records_anyway)
    for (Option one : {compress, rotate}) one.needs(file);
  grammar
      .option("--keep", to.keep, "number of those files, after which the oldest is overwritten: 4")
      .needs(rotate)
      .in_range(RotatePart::kLeastFiles, RotatePart::kMostFiles);
  return file;
}

std::optional<RecordTo> RecordOptions::chosen() const {
  if (to.file.empty()) return std::nullopt;
  RecordTo chosen = to;
  chosen.file = trace_file_name(to.file);
  chosen.rotate_bytes = parse_size(rotate_size);
  return chosen;
}

}  // namespace tracectl
