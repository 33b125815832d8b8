// SPDX-License-Identifier: BSD-2-Clause
//
// The daemon itself, and its protocol.
#include "client/connection/ask.h"
#include "client/render/metrics.h"
#include "client/render/text.h"
#include "client/verbs/all.h"
#include "daemon/protocol/schema.h"

namespace tracectl {
namespace {

using namespace protocol;

class ShowStatus final : public Verb {
 public:
  int run(const CommonOptions& common) override {
    return ask(common, Backend::Needs::daemon, DaemonStatus{}, status_text);
  }
};

class ShowStats final : public Verb {
 public:
  int run(const CommonOptions& common) override {
    return ask(common, Backend::Needs::daemon, DaemonStats{}, stats_text);
  }
};

class ShowMetrics final : public Verb {
 public:
  int run(const CommonOptions& common) override {
    return with_backend(common, Backend::Needs::daemon, [](Backend& backend) -> int {
      auto status = backend.call(DaemonStatus{});
      if (!status) return fail(status.error());
      auto stats = backend.call(DaemonStats{});
      if (!stats) return fail(stats.error());
      print(metrics_text(*status, *stats));
      return kDone;
    });
  }
};

class RunDoctor final : public Verb {
 public:
  int run(const CommonOptions& common) override {
    return ask(common, Backend::Needs::any_engine, DaemonDoctor{}, doctor_text);
  }
};

class PrintSchema final : public Verb {
 public:
  int run(const CommonOptions&) override { return print(schema_text()), kDone; }
};

}  // namespace

void add_daemon(Grammar grammar) {
  grammar.verb<ShowStatus>("status", "the daemon, and what it holds");
  grammar.verb<ShowStats>("stats", "the daemon's own counters");
  grammar.verb<ShowMetrics>("metrics", "the same in the text format of Prometheus");
  grammar.verb<RunDoctor>("doctor", "try what this kernel can do, and say what that means");
  grammar.verb<PrintSchema>("schema", "the JSON Schema of the protocol and of every --json");
}

}  // namespace tracectl
