// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "client/verbs/all.h"
#include "client/verbs/counting_verb.h"
#include "client/verbs/shared_options.h"

namespace tracectl {
namespace {

class SumBlocks final : public CountingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_trace_options(grammar);
    add_interval(grammar);
    add_folded(grammar, "print the stacks as flame graphs want them, with ns");
    grammar.starts_command();
  }

 protected:
  std::string action() const override { return "sum(block) by stack, max(block) by stack"; }
};

}  // namespace

void add_offcpu(Grammar grammar) {
  grammar.verb<SumBlocks>("offcpu", "the stacks at which threads in these calls are blocked");
}

}  // namespace tracectl
