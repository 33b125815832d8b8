// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "client/verbs/all.h"
#include "client/verbs/shared_options.h"
#include "client/verbs/trace_output.h"
#include "client/verbs/tracing_verb.h"
#include "daemon/model/stack.h"

namespace tracectl {
namespace {

class ShowStacks final : public TracingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_probe_options(grammar, trace_.probes);
    grammar.flag("--deepest", trace_.deepest,
                 "at the end, of each thread the deepest stack of all hits");
    add_how(grammar);
    grammar.starts_command();
  }
  Status complete(const CommonOptions& common) override {
    if (trace_.deepest) return TracingVerb::complete(common);
    return Error{Code::invalid,
                 "stacks shows the deepest only: add --deepest; count PATTERN --by stack counts "
                 "all of them"};
  }
  int run(const CommonOptions& common) override { return print_events(common, trace_); }

 protected:
  std::string action() const override {
    return "deepest, event(stack_bytes), stack(" + std::to_string(kMostFrames) + ")";
  }
};

}  // namespace

void add_stacks(Grammar grammar) {
  grammar.verb<ShowStacks>("stacks", "the deepest stack of each thread, with what its frames take");
}

}  // namespace tracectl
