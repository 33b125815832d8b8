// SPDX-License-Identifier: BSD-2-Clause
//
// Options that several verbs share, with the same words everywhere.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "client/options.h"
#include "client/verbs.h"

namespace tracectl {

// The whole command line: its options, and the function to run.
struct CommandLine {
  CommonOptions common;
  TraceOptions trace;
  GraphChoice graph;
  std::string min_duration;
  ReportOptions report;
  StageOptions stage;
  CommitOptionsText commit;
  InfoOptions info;
  std::string name;
  std::optional<std::string> recorder;
  std::vector<std::string> dump_on;
  bool saved = false;
  bool all_sessions = false;
  std::optional<std::string> by;
  std::string of;
  std::string duration;
  std::string interval = "1s";
  std::string reconnect = "10s";
  TopOptions top;
  RecordTo record;
  std::string rotate_size;
  ShowOptions show;
  ExportOptions exported;
  std::string show_from, show_to;
  bool clear = false;
  std::map<std::string, std::optional<std::string>> recipe_values;  // by option
  std::function<int()> chosen;
};

// If the verb is given, `chosen` becomes `run`.
CLI::App& add_verb(CLI::App& app, const std::string& name, const std::string& help,
                   std::function<int()>& chosen, std::function<int()> run);

// -p, -x, -a, -f and so on.
void add_target_options(CLI::App& verb, ProbeOptions& probes);
void add_probe_options(CLI::App& verb, ProbeOptions& probes);
void add_do(CLI::App& verb, std::string& action);
void add_when(CLI::App& verb, std::optional<std::string>& when);
CLI::Option* add_keep_if(CLI::App& verb, std::optional<std::string>& keep_if);
void add_returns(CLI::App& verb, std::string& returns);
void add_by(CLI::App& verb, std::optional<std::string>& by);
void add_pair_options(CLI::App& verb, LatencyOptions& latency);
// For verbs whose pattern is the end of the latency.
void add_from(CLI::App& verb, LatencyOptions& latency);
void add_budget(CLI::App& verb, std::optional<double>& budget);
void add_run_options(CLI::App& verb, CommandLine& line);
void add_how(CLI::App& verb, CommandLine& line);
void add_record_to(CLI::App& verb, CommandLine& line);
void add_trace_options(CLI::App& verb, CommandLine& line);
void tell_of_command(CLI::App& verb);

}  // namespace tracectl
