// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "client/verbs/all.h"
#include "client/verbs/counting_verb.h"
#include "client/verbs/shared_options.h"
#include "client/verbs/trace_output.h"
#include "daemon/model/stack.h"

namespace tracectl {
namespace {

class ShowStacks final : public CountingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_probe_options(grammar, trace_.probes);
    grammar.flag("--deepest", trace_.deepest,
                 "instead, at the end, of each thread the deepest stack of all hits");
    add_how(grammar);
    add_interval(grammar);
    add_folded(grammar, "print the stacks as flame graphs want them");
    grammar.starts_command();
  }
  Status complete(const CommonOptions& common) override {
    if (trace_.deepest && (has_interval() || trace_.folded))
      return Error{Code::invalid, std::string("--deepest shows its stacks at the end: leave ") +
                                      (trace_.folded ? "--folded" : "--interval") + " away"};
    if (!trace_.deepest) by_ = "stack";
    return CountingVerb::complete(common);
  }
  int run(const CommonOptions& common) override {
    return trace_.deepest ? print_events(common, trace_) : CountingVerb::run(common);
  }

 protected:
  std::string action() const override {
    if (!trace_.deepest) return "count";
    return "deepest, event(stack_bytes), stack(" + std::to_string(kMostFrames) + ")";
  }
};

}  // namespace

void add_stacks(Grammar grammar) {
  grammar.verb<ShowStacks>("stacks", "count hits by stack, or show each thread's deepest stack");
}

}  // namespace tracectl
