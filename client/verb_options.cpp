// SPDX-License-Identifier: BSD-2-Clause
#include "client/verb_options.h"

#include "client/duration.h"
#include "client/size.h"
#include "daemon/protocol/messages/recordings.h"

namespace tracectl {

CLI::App& add_verb(CLI::App& app, const std::string& name, const std::string& help,
                   std::function<int()>& chosen, std::function<int()> run) {
  CLI::App* verb = app.add_subcommand(name, help);
  verb->fallthrough();
  verb->callback([&chosen, run = std::move(run)] { chosen = run; });
  return *verb;
}

void add_target_options(CLI::App& verb, ProbeOptions& probes) {
  verb.add_option("-p,--pid", probes.pids, "a process, repeatable")->allow_extra_args(false);
  verb.add_option("-x,--executable", probes.executables,
                  "every process that runs this file, now or later")
      ->allow_extra_args(false);
  verb.add_option("-u,--unit", probes.units,
                  "every process of this unit of systemd's, now or later")
      ->allow_extra_args(false);
  verb.add_option("--cgroup", probes.cgroups,
                  "every process in this cgroup or below it, now or later")
      ->allow_extra_args(false);
  verb.add_flag("-f,--follow", probes.follow, "children forked later, too, and theirs");
  verb.add_flag("--first-child", probes.first_child, "the first child forked later, too");
  verb.add_flag("-a,--all", probes.all, "every process that maps the object");
  verb.add_flag("--global", probes.global, "only functions in the dynamic symbol table");
  verb.add_flag("--local", probes.local, "every function, which is the default")
      ->excludes("--global");
}

void add_probe_options(CLI::App& verb, ProbeOptions& probes) {
  verb.add_option("PATTERN", probes.patterns,
                  "uprobe:OBJECT:FUNCTION[+OFFSET] or usdt:OBJECT:PROVIDER:NAME")
      ->required();
  add_target_options(verb, probes);
}

void add_do(CLI::App& verb, std::string& action) {
  verb.add_option("--do", action,
                  "what a hit does: event, event(arg0), 'count by tid', hist(arg1)");
}

void add_when(CLI::App& verb, std::optional<std::string>& when) {
  verb.add_option("--when", when, "only hits for which this holds: 'arg1 > 4096 && pid != 7'");
}

CLI::Option* add_keep_if(CLI::App& verb, std::optional<std::string>& keep_if) {
  return verb.add_option("--keep-if", keep_if,
                         "of a graph: only calls for which this holds at their end: 'duration > "
                         "1000000 || thrown'");
}

void add_returns(CLI::App& verb, std::string& returns) {
  verb.add_option("--returns", returns,
                  "how returns are seen: auto, exits, or trampoline, which kills a program that "
                  "leaves a call by an exception");
}

void add_by(CLI::App& verb, std::optional<std::string>& by) {
  verb.add_option("--by", by, "a row for each value of these: pid,comm or 'str(arg0)'");
}

void add_pair_options(CLI::App& verb, LatencyOptions& latency) {
  verb.add_option("--by", latency.by,
                  "what both hits have in common: tid, which is the default, arg0, 'str(arg0)'");
  verb.add_option("--slowest", latency.slowest, "how many of the longest times are listed: 5")
      ->check(CLI::Range(0, 32));
}

void add_from(CLI::App& verb, LatencyOptions& latency) {
  verb.add_option("--from", latency.from,
                  "measure the time from a hit of this pattern to one of PATTERN");
  add_pair_options(verb, latency);
}

void add_budget(CLI::App& verb, std::optional<double>& budget) {
  verb.add_option("--budget", budget,
                  "leave out probes while all hits together cost more than this: percent of a CPU")
      ->option_text("PERCENT")
      ->check(CLI::PositiveNumber);
}

void add_run_options(CLI::App& verb, CommandLine& line) {
  verb.add_option("--for", line.duration, "end after this time: 10s, 500ms, 2m")
      ->check(check_duration);
  verb.add_option("-n,--rows", line.trace.rows,
                  "how many rows of a table are printed, first those with most")
      ->check(CLI::NonNegativeNumber);
  add_budget(verb, line.trace.budget);
  verb.add_flag("--partial", line.trace.partial, "arm the rest where some sites are refused");
  verb.add_flag("--dry-run", line.trace.dry_run, "say what would be armed, and arm nothing");
}

void add_how(CLI::App& verb, CommandLine& line) {
  add_when(verb, line.trace.when);
  add_run_options(verb, line);
}

void add_record_to(CLI::App& verb, CommandLine& line) {
  using protocol::RotatePart;
  auto* file = verb.add_option("-o,--output", line.record.file, "record to this trace file");
  verb.add_flag("--compress", line.record.compress, "its blocks, by zstd")->needs(file);
  auto* rotate = verb.add_option("--rotate", line.rotate_size,
                                 "record to numbered files, out.0.tct and so on; the next begins "
                                 "at this size: 64M, 1G")
                     ->option_text("SIZE")
                     ->needs(file)
                     ->check([](const std::string& text) {
                       return check_size(text, RotatePart::kLeastBytes);
                     });
  verb.add_option("--keep", line.record.keep,
                  "number of those files, after which the oldest is overwritten: 4")
      ->needs(rotate)
      ->check(CLI::Range(RotatePart::kLeastFiles, RotatePart::kMostFiles));
}

void add_trace_options(CLI::App& verb, CommandLine& line) {
  add_probe_options(verb, line.trace.probes);
  add_returns(verb, line.trace.returns);
  add_how(verb, line);
}

void tell_of_command(CLI::App& verb) {
  verb.footer(verb.get_footer() +
              "-- COMMAND... at the end starts this command, and traces it from its first "
              "instruction.\n");
}

}  // namespace tracectl
