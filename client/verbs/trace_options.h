// SPDX-License-Identifier: BSD-2-Clause
//
// What verbs that trace are asked for, and recipes ask for by several of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/options/options.h"
#include "client/recording/recorded_file.h"
#include "client/render/keys.h"
#include "client/verbs/graph_form.h"

namespace tracectl {

// --from, and what is reported about the latency.
struct LatencyOptions {
  std::optional<std::string> from, by;
  std::optional<uint64_t> slowest;
};

// For `graph`: what is shown below the calls, and how.
struct GraphChoice {
  std::vector<std::string> only, skip, beside;
  std::optional<uint64_t> depth;
  bool imports = false;
  bool grow = false;
  std::optional<std::string> keep_if;
  bool arguments = false;
  bool results = false;
  uint64_t min_duration_ns = 0;
  GraphForm form = GraphForm::calls;
};

struct TraceVariant;

struct TraceOptions {
  ProbeOptions probes;
  std::string action;  // the value of --do
  std::optional<std::string> when;
  std::string returns = "auto";
  std::string types;  // a provider file
  LatencyOptions latency;
  std::optional<double> seconds;  // --for
  size_t rows = SIZE_MAX;         // to print of each table
  std::optional<double> budget;   // percent of one CPU
  bool partial = false;           // arms the rest of what is refused or matches nothing
  bool strict = false;  // arms nothing if anything is refused, and exits with trouble of tracing
  bool yes = false;     // to more sites than are armed without asking
  bool dry_run = false;
  bool end_command = false;  // when the time is over
  bool folded = false;       // stacks, counted, instead of events
  bool deepest = false;      // the deepest stack of each thread, at the end
  std::optional<GraphChoice> graph;
  // Further settings in the same session with the same target: patterns, and what hits do.
  std::vector<TraceOptions> beside;
  bool any_of = false;                 // settings that find nothing in the target are left out
  std::vector<KeyView> keys;           // how the keys of rows are shown
  std::optional<RecordTo> record;      // events are written to a file instead
  std::vector<TraceVariant> variants;  // other settings, for some targets
  std::string needs;  // added to the message if the target has no such probe; empty: nothing
};

// Settings for targets in which this probe has so many arguments.
struct TraceVariant {
  std::string probe;
  size_t arguments = 0;
  TraceOptions settings;
};

}  // namespace tracectl
