// SPDX-License-Identifier: BSD-2-Clause
//
// Whether sessions count: pause, resume and restart.
#include <optional>
#include <string>

#include "client/connection/ask.h"
#include "client/render/text.h"
#include "client/verbs/all.h"
#include "client/verbs/session_verb.h"

namespace tracectl {
namespace {

using namespace protocol;

// SessionPause or SessionResume: of one session or, by one switch, of all.
template <class Request> class SwitchSessions final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    Option session = grammar.option("SESSION", session_, "its name");
    session.excludes(grammar.flag("--all", all_, "all sessions, by one switch"));
    grammar.at_least_one_option();
  }
  int run(const CommonOptions& common) override {
    const Request request{all_ ? std::nullopt : std::optional(session_)};
    return ask(common, Backend::Needs::daemon, request,
               [&](const SwitchReply& reply) { return switch_text(reply, common.verbose); });
  }

 private:
  std::string session_;
  bool all_ = false;
};

class RestartSession final : public SessionVerb {
 public:
  int run(const CommonOptions& common) override {
    return ask(common, Backend::Needs::daemon, SessionRestart{session_},
               [&](const SwitchReply& reply) { return switch_text(reply, common.verbose); });
  }
};

}  // namespace

void add_pause(Grammar grammar) {
  grammar.verb<SwitchSessions<SessionPause>>(
      "pause", "stop counting and streaming, in one step; counters are kept");
  grammar.verb<SwitchSessions<SessionResume>>("resume", "go on after a pause, in one step");
  grammar.verb<RestartSession>("restart", "set counters to zero and resume, in one step");
}

}  // namespace tracectl
