// SPDX-License-Identifier: BSD-2-Clause
//
// One function for each verb; each returns the exit status. They print results to standard output and
// everything else to standard error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/options/options.h"
#include "client/recipes/recipes.h"
#include "client/render/keys.h"

namespace tracectl {

// --from, and what is reported about the latency.
struct LatencyOptions {
  std::optional<std::string> from, by;
  std::optional<uint64_t> slowest;
};

// For `graph`: what is shown below the calls, and how.
struct GraphChoice {
  enum class Form { calls, functions, tree, folded };

  std::vector<std::string> only, skip, beside;
  std::optional<uint64_t> depth;
  bool grow = false;
  std::optional<std::string> keep_if;
  bool arguments = false;
  bool results = false;
  uint64_t min_duration_ns = 0;
  Form form = Form::calls;  // calls as they come; the others are sums, at the end
};

// The trace file of a recording; with a size, several numbered files that are filled in turn.
struct RecordTo {
  std::string file;
  bool compress = false;
  std::optional<uint64_t> rotate_bytes;
  uint64_t keep = 4;
};

struct TraceOptions {
  ProbeOptions probes;
  std::string action;  // the value of --do
  std::optional<std::string> when;
  std::string returns = "auto";
  LatencyOptions latency;
  std::optional<double> seconds;  // --for
  size_t rows = SIZE_MAX;         // to print of each table
  std::optional<double> budget;   // percent of one CPU
  bool partial = false;
  bool dry_run = false;
  bool folded = false;   // stacks, counted, instead of events
  bool deepest = false;  // the deepest stack of each thread, at the end
  std::optional<GraphChoice> graph;
  // Further settings in the same session with the same target: patterns, and what hits do.
  std::vector<TraceOptions> beside;
  bool any_of = false;             // settings that find nothing in the target are left out
  std::vector<KeyView> keys;       // how the keys of rows are shown
  std::optional<RecordTo> record;  // events are written to a file instead
};

struct StageOptions {
  std::string session;
  ProbeOptions probes;
  std::string action = "event";
  std::optional<std::string> when, keep_if;
  std::string returns = "auto";
  LatencyOptions latency;
  bool explain = false;
};

struct CommitOptionsText {
  std::string session;
  bool partial = false;
  bool dry_run = false;
};

struct ReportOptions {
  // A trace file, or the output of `graph --json`; "-": the latter from standard input.
  std::string file;
  std::optional<std::string> against;
  GraphChoice::Form form = GraphChoice::Form::functions;
  size_t rows = SIZE_MAX;  // of the table
  std::string action;      // the value of --do: how events are summed up
  std::string when;        // only events for which this holds
  bool timeline = false;
  std::optional<std::string> html;  // the page to write instead
};

struct ShowOptions {
  std::string file;
  std::optional<double> from_s, to_s;  // since the first event
  std::string when;                    // only events for which this holds
  bool graph = false;                  // in the form of `graph`
  bool arguments = false, results = false;
};

struct ExportOptions {
  std::string file;
  std::string format;  // empty: list the formats
  std::string output;
};

struct DumpOptions {
  std::string session;
  RecordTo to;
};

struct InfoOptions {
  std::string pattern;
  bool global = false;
  bool generations = false;
};

int run_list(const CommonOptions& common, const ProbeOptions& probes);
int run_trace(const CommonOptions& common, const TraceOptions& options);
int run_graph(const CommonOptions& common, const TraceOptions& options);
int run_count(const CommonOptions& common, const TraceOptions& options);
int run_record(const CommonOptions& common, const TraceOptions& options);
// Shows what is in a recording.
int run_show(const CommonOptions& common, const ShowOptions& options);
int run_export(const CommonOptions& common, const ExportOptions& options);
// Sums up a recording, or what has changed between two.
int run_report(const CommonOptions& common, const ReportOptions& options);
int run_info(const CommonOptions& common, const InfoOptions& options);

// Settings of a new session.
struct SessionOptions {
  std::string name;
  std::optional<double> budget;
  std::optional<std::string> recorder;  // the value of --recorder
  std::vector<std::string> dump_on;     // the values of --dump-on
  bool saved = false;
};
int run_session_new(const CommonOptions& common, const SessionOptions& options);
int run_session_list(const CommonOptions& common);
int run_session_save(const CommonOptions& common, const std::string& name);
int run_session_show(const CommonOptions& common, const std::string& name);
// Proves that the kernel lets this user trace these processes, and those that the session has seen and left
// out.
int run_session_prove(const CommonOptions& common, const std::string& name,
                      const std::vector<int64_t>& pids);
int run_session_delete(const CommonOptions& common, const std::string& name);

int run_stage_set(const CommonOptions& common, const StageOptions& options);
int run_stage_remove(const CommonOptions& common, const StageOptions& options);
int run_commit(const CommonOptions& common, const CommitOptionsText& options);
int run_abort(const CommonOptions& common, const std::string& session);
// No session: all sessions, in one switch.
int run_pause(const CommonOptions& common, const std::optional<std::string>& session);
int run_resume(const CommonOptions& common, const std::optional<std::string>& session);
int run_restart(const CommonOptions& common, const std::string& session);

int run_read(const CommonOptions& common, const std::string& session, bool clear);
struct WatchOptions {
  std::string session;
  std::optional<double> seconds = {};  // none: until ^C
  double reconnect_s = 10;             // how long it tries after a daemon has ended; 0: not at all
};
int run_watch(const CommonOptions& common, const WatchOptions& options);
int run_flush(const CommonOptions& common, const std::string& session);

// Writes what a session's flight recorder holds to a file.
int run_dump(const CommonOptions& common, const DumpOptions& options);

struct TopOptions {
  double interval_s = 1;                    // between two tables
  std::optional<uint64_t> iterations = {};  // tables; none: until ^C
  size_t rows = SIZE_MAX;                   // of a table
};
// Shows the hits and costs of armed probes periodically.
int run_top(const CommonOptions& common, const TopOptions& options);
int run_status(const CommonOptions& common);
int run_stats(const CommonOptions& common);
int run_metrics(const CommonOptions& common);  // stats and status, for Prometheus
int run_doctor(const CommonOptions& common);

int run_recipe_list(const CommonOptions& common);
int run_recipe_show(const CommonOptions& common, const std::string& name,
                    const RecipeValues& values);

int run_schema();

}  // namespace tracectl
