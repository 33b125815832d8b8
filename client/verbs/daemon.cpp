// SPDX-License-Identifier: BSD-2-Clause
//
// The daemon itself, and its protocol.
#include "client/verbs.h"
#include "client/verbs/all.h"

namespace tracectl {
namespace {

class PlainVerb final : public Verb {
 public:
  using Run = int (*)(const CommonOptions&);
  explicit PlainVerb(Run how) : run_(how) {}
  int run(const CommonOptions& common) override { return run_(common); }

 private:
  Run run_;
};

}  // namespace

void add_daemon(Grammar grammar) {
  grammar.verb<PlainVerb>("status", "the daemon, and what it holds", run_status);
  grammar.verb<PlainVerb>("stats", "the daemon's own counters", run_stats);
  grammar.verb<PlainVerb>("metrics", "the same in the text format of Prometheus", run_metrics);
  grammar.verb<PlainVerb>("doctor", "try what this kernel can do, and say what that means",
                          run_doctor);
  grammar.verb<PlainVerb>("schema", "the JSON Schema of the protocol and of every --json",
                          [](const CommonOptions&) { return run_schema(); });
}

}  // namespace tracectl
