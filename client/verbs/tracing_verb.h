// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/verbs/grammar.h"
#include "client/verbs/trace_options.h"

namespace tracectl {

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
