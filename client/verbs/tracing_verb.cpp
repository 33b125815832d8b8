// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/tracing_verb.h"

#include "client/options/duration.h"
#include "client/verbs/shared_options.h"

namespace tracectl {

void TracingVerb::add_run_options(Grammar& grammar) {
  grammar.option("--for", duration_, "end after this time: 10s, 500ms, 2m").check(check_duration);
  add_rows(grammar, trace_.rows);
  add_budget(grammar, trace_.budget);
  add_refusals(grammar, trace_.partial, trace_.strict);
  add_yes(grammar, trace_.yes);
  grammar.flag("--dry-run", trace_.dry_run, "say what would be armed, and arm nothing");
  grammar.flag("--end-command", trace_.end_command,
               "after the time of --for end the command by SIGTERM, instead of leaving it running");
}

void TracingVerb::add_how(Grammar& grammar) {
  add_when(grammar, trace_.when);
  add_run_options(grammar);
}

void TracingVerb::add_trace_options(Grammar& grammar) {
  add_probe_options(grammar, trace_.probes);
  add_returns(grammar, trace_.returns);
  add_types(grammar, trace_.types);
  add_how(grammar);
}

void TracingVerb::add_by(Grammar& grammar) {
  grammar.option("--by", by_, "a row for each value of these: pid,comm or 'str(arg0)'");
}

void TracingVerb::add_folded(Grammar& grammar, const std::string& help) {
  grammar.flag("--folded", trace_.folded, help);
}

Status TracingVerb::complete(const CommonOptions&) {
  trace_.seconds = parse_duration(duration_);
  std::string& action = trace_.action;
  action = this->action();
  if (by_) action += " by " + *by_;
  if (action.empty()) action = trace_.folded ? "stack" : "event";
  if (trace_.folded && action.find("stack") == std::string::npos)
    return Error{Code::invalid, "--folded prints stacks, and \"" + action +
                                    "\" takes none: leave it away, or put stack into it"};
  return ok();
}

}  // namespace tracectl
