// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <string>

#include "client/connection/ask.h"
#include "client/verbs/all.h"
#include "client/verbs/session_verb.h"

namespace tracectl {
namespace {

std::string flush_text(const protocol::FlushReply& reply) {
  return fmt::format("every event before {} ns since boot has been sent\n", reply.ts);
}

class FlushSession final : public SessionVerb {
 public:
  int run(const CommonOptions& common) override {
    return ask(common, Backend::Needs::daemon, protocol::SessionFlush{session_}, flush_text);
  }
};

}  // namespace

void add_flush(Grammar grammar) {
  grammar.verb<FlushSession>("flush", "return once every event fired before has been delivered");
}

}  // namespace tracectl
