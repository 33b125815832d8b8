// SPDX-License-Identifier: BSD-2-Clause
//
// Options that several verbs share, with the same words everywhere, and what verbs that trace have in common.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/verbs.h"
#include "client/verbs/grammar.h"

namespace tracectl {

// -p, -x, -a, -f and so on.
void add_target_options(Grammar& grammar, ProbeOptions& probes);
void add_probe_options(Grammar& grammar, ProbeOptions& probes);  // PATTERN, too
void add_do(Grammar& grammar, std::string& action);
void add_when(Grammar& grammar, std::optional<std::string>& when);
Option add_keep_if(Grammar& grammar, std::optional<std::string>& keep_if);
void add_returns(Grammar& grammar, std::string& returns);
void add_pair_options(Grammar& grammar, LatencyOptions& latency);
// For verbs whose pattern is the end of the latency.
void add_from(Grammar& grammar, LatencyOptions& latency);
void add_budget(Grammar& grammar, std::optional<double>& budget);
Option add_rows(Grammar& grammar, size_t& rows);

// -o and what belongs to it.
struct RecordOptions {
  RecordTo to;
  std::string rotate_size;

  Option add_to(Grammar& grammar);  // returns -o
  std::optional<RecordTo> chosen() const;
};

// A verb that traces until ^C or the targets end.
class TracingVerb : public Verb {
 public:
  Status complete(const CommonOptions& common) override;
  std::vector<std::string>* command() override { return &trace_.probes.command; }
  TraceOptions* traced() override { return &trace_; }

 protected:
  void add_run_options(Grammar& grammar);    // how long, how many rows, a budget
  void add_how(Grammar& grammar);            // the same, and conditions
  void add_trace_options(Grammar& grammar);  // the same, probes, and returns
  void add_by(Grammar& grammar);
  void add_folded(Grammar& grammar, const std::string& help);
  // The value of --do where it is not an option, without --by.
  virtual std::string action() const { return trace_.action; }

  TraceOptions trace_;
  std::optional<std::string> by_;

 private:
  std::string duration_;
};

}  // namespace tracectl
