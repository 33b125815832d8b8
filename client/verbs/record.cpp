// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/all.h"
#include "client/verbs/shared_options.h"
#include "client/verbs/trace_output.h"
#include "client/verbs/tracing_verb.h"

namespace tracectl {
namespace {

class RecordEvents final : public TracingVerb {
 public:
  void add_options(Grammar& grammar) override {
    add_trace_options(grammar);
    add_do(grammar, trace_.action);
    add_from(grammar, trace_.latency);
    record_.add_to(grammar);
    grammar.starts_command();
  }
  Status complete(const CommonOptions& common) override {
    trace_.record = record_.chosen();
    return TracingVerb::complete(common);
  }
  int run(const CommonOptions& common) override { return record_events(common, trace_); }

 private:
  RecordOptions record_{.to = {.file = "."}};
};

}  // namespace

void add_record(Grammar grammar) {
  grammar.verb<RecordEvents>("record", "record events to a trace file until ^C or the targets end");
}

}  // namespace tracectl
