// SPDX-License-Identifier: BSD-2-Clause
//
// Options that several verbs share, with the same words everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/recording/recorded_file.h"
#include "client/verbs/grammar.h"
#include "client/verbs/trace_options.h"

namespace tracectl {

// -p, -x, -a, -f and so on.
void add_target_options(Grammar& grammar, ProbeOptions& probes);
void add_probe_options(Grammar& grammar, ProbeOptions& probes);  // PATTERN, too
// PATTERN may be left out.
void add_optional_probe_options(Grammar& grammar, ProbeOptions& probes);
void add_do(Grammar& grammar, std::string& action);
void add_when(Grammar& grammar, std::optional<std::string>& when);
Option add_keep_if(Grammar& grammar, std::optional<std::string>& keep_if);
void add_types(Grammar& grammar, std::string& types);
void add_returns(Grammar& grammar, std::string& returns);
// How durations are made up.
void add_split(Grammar& grammar, bool& split);
void add_pair_options(Grammar& grammar, LatencyOptions& latency);
// For verbs whose pattern is the end of the latency.
void add_from(Grammar& grammar, LatencyOptions& latency);
// What becomes of a commit of which some sites are refused.
void add_refusals(Grammar& grammar, bool& partial, bool& strict);
// The consent to a large commit: none if more sites are to be added than the user has agreed to.
void add_yes(Grammar& grammar, bool& yes);
std::optional<uint64_t> most_added(bool yes);
void add_budget(Grammar& grammar, std::optional<double>& budget);
Option add_rows(Grammar& grammar, size_t& rows);

// -o and what belongs to it. A file that is set before add_to() is recorded to without -o.
struct RecordOptions {
  RecordTo to;
  std::string rotate_size = {};

  Option add_to(Grammar& grammar);  // returns -o
  std::optional<RecordTo> chosen() const;
};

}  // namespace tracectl
