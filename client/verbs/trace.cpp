// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/all.h"
#include "client/verbs/shared_options.h"
#include "client/verbs/trace_output.h"
#include "client/verbs/tracing_verb.h"

namespace tracectl {
namespace {

class TraceEvents final : public TracingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_trace_options(grammar);
    add_do(grammar, trace_.action);
    add_from(grammar, trace_.latency);
    add_folded(grammar, "count the stacks, and print them at the end as flame graphs want them");
    grammar.starts_command();
  }
  int run(const CommonOptions& common) override { return print_events(common, trace_); }
};

}  // namespace

void add_trace(Grammar grammar) {
  grammar.verb<TraceEvents>("trace", "stream events until ^C or the targets end");
}

}  // namespace tracectl
