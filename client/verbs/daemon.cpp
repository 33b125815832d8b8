// SPDX-License-Identifier: BSD-2-Clause
//
// The daemon itself, and its protocol.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <vector>

#include "client/connection/ask.h"
#include "client/output/output.h"
#include "client/render/metrics.h"
#include "client/render/text.h"
#include "client/verbs/all.h"
#include "client/verbs/json_documents.h"
#include "daemon/protocol/codec.h"
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
    return with_backend(common, Backend::Needs::daemon, [&](Backend& backend) -> int {
      auto status = backend.call(DaemonStatus{});
      if (!status) return fail(status.error());
      auto stats = backend.call(DaemonStats{});
      if (!stats) return fail(stats.error());
      if (common.json)
        print(text_of(to_json(*status)) + "\n" + text_of(to_json(*stats)) + "\n");
      else
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

// Of the protocol, or of what one verb prints.
class PrintSchema final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("VERB", words_, "what this verb prints with --json, as in schema session new");
  }
  int run(const CommonOptions&) override {
    if (words_.empty()) return print(schema_text(schema())), kDone;
    const std::string verb = fmt::to_string(fmt::join(words_, " "));
    const auto names = json_documents_of(verb);
    if (!names) return fail(Error{Code::invalid, "there is no verb \"" + verb + '"'}), kUsage;
    if (names->empty()) return fail(Error{Code::unsupported, verb + " prints no JSON"}), kUsage;
    return print(schema_text(schema_of(*names))), kDone;
  }

 private:
  std::vector<std::string> words_;
};

}  // namespace

void add_daemon(Grammar grammar) {
  grammar.verb<ShowStatus>("status", "the daemon, and what it holds");
  grammar.verb<ShowStats>("stats", "the daemon's own counters");
  grammar.verb<ShowMetrics>("metrics", "the same in the text format of Prometheus");
  grammar.verb<RunDoctor>("doctor", "try what this kernel can do, and say what that means");
  grammar.verb<PrintSchema>(
      "schema", "the JSON Schema of the protocol, or of what a verb prints with --json");
}

}  // namespace tracectl
