// SPDX-License-Identifier: BSD-2-Clause
//
// Named sessions, which the daemon has.
#include <optional>
#include <string>
#include <vector>

#include "client/connection/ask.h"
#include "client/connection/proofs.h"
#include "client/options/recorder_bound.h"
#include "client/render/text.h"
#include "client/verbs/all.h"
#include "client/verbs/session_verb.h"
#include "client/verbs/shared_options.h"
#include "daemon/protocol/session_file.h"

namespace tracectl {
namespace {

using namespace protocol;

std::string prove_text(const ProveReply& reply) {
  if (!reply.needed) return "the session sees every process; it needs no proofs\n";
  std::string text = plural(reply.proven.size(), "proof") + " taken";
  for (const int64_t pid : reply.proven)
    text += (pid == reply.proven.front() ? ": " : ", ") + std::to_string(pid);
  return text + "\n" + unproven_text(reply.unproven);
}

class NewSession final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("NAME", name_, "of the session").required();
    grammar.flag("--saved", saved_, "it goes on when the daemon is restarted or upgraded");
    add_budget(grammar, budget_);
    const Option recorder =
        grammar
            .option("--recorder", recorder_,
                    "keep its last events in memory, for dump: 64M, 10s, or 64M,10s")
            .value_name("SIZE|TIME")
            .check(check_recorder_bound);
    grammar
        .option("--dump-on", dump_on_,
                "dump them to the daemon's directory when a process it traces crashes: crash; is "
                "ended by a signal: signal:TERM; exits: exit:3; when a unit of systemd's fails: "
                "failed:nginx")
        .value_name("WHAT")
        .needs(recorder)
        .check(check_dump_on);
  }
  int run(const CommonOptions& common) override {
    SessionCreate request{.name = name_, .budget = budget_, .saved = saved_};
    if (recorder_) {
      auto bound = parse_recorder_bound(*recorder_);
      if (!bound) return fail(bound.error());
      request.recorder = *bound;
    }
    if (!dump_on_.empty()) {
      auto causes = parse_dump_on(dump_on_);
      if (!causes) return fail(causes.error());
      request.dump_on = *causes;
    }
    return ask(common, Backend::Needs::daemon, request, {[](const SessionPart& session) {
                 return "session " + session.name + " is there; tracectl stage " + session.name +
                        " set PATTERN... adds to it\n";
               }});
  }

 private:
  std::string name_;
  std::optional<double> budget_;
  std::optional<std::string> recorder_;  // the value of --recorder
  std::vector<std::string> dump_on_;     // the values of --dump-on
  bool saved_ = false;
};

class ListSessions final : public Verb {
 public:
  int run(const CommonOptions& common) override {
    return ask(common, Backend::Needs::daemon, SessionList{}, sessions_text);
  }
};

class ShowSession final : public SessionVerb {
 public:
  int run(const CommonOptions& common) override {
    return ask(common, Backend::Needs::daemon, SessionShow{session_}, session_text);
  }
};

// Lets the session see processes that the kernel lets this user trace.
class ProveProcesses final : public SessionVerb {
 public:
  void add_options(Grammar& grammar) override {
    SessionVerb::add_options(grammar);
    grammar.option("-p,--pid", pids_, "these processes, too").value_name("PID");
  }
  int run(const CommonOptions& common) override {
    return with_backend(common, Backend::Needs::daemon, [&](Backend& backend) -> int {
      const auto answer = Proofs(backend, session_).prove_all({pids_.begin(), pids_.end()});
      if (!answer) return fail(answer.error());
      show<ProveReply>(common, *answer, prove_text);
      return kDone;
    });
  }

 private:
  std::vector<int64_t> pids_;
};

// Prints a file for the daemon's directory of saved sessions, with --json or without.
class SaveSession final : public SessionVerb {
 public:
  int run(const CommonOptions& common) override {
    return with_backend(common, Backend::Needs::daemon, [&](Backend& backend) -> int {
      auto session = backend.call(SessionShow{session_});
      if (!session) return fail(session.error());
      const auto document = session_file_of(*session);
      if (!document) return fail(document.error());
      print(text_of(to_json(*document)) + "\n");
      return kDone;
    });
  }
};

class DeleteSession final : public SessionVerb {
 public:
  int run(const CommonOptions& common) override {
    return ask(common, Backend::Needs::daemon, SessionDelete{session_},
               [&](const SwitchReply& reply) { return switch_text(reply, common.verbose); });
  }
};

}  // namespace

void add_session(Grammar grammar) {
  Grammar session =
      grammar.group("session", "named sessions: new, list, show, prove, save, delete");
  session.verb<NewSession>("new", "make an empty session");
  session.verb<ShowSession>("show", "its settings, its draft, its counts");
  session.verb<ProveProcesses>("prove",
                               "let it see your processes that it has left out, and those of -p");
  session.verb<SaveSession>(
      "save", "print what begins it with the daemon: for /etc/tracectl/sessions.d/NAME.json");
  session.verb<DeleteSession>("delete", "remove all its settings, and its results");
  session.verb<ListSessions>("list", "all sessions");
}

}  // namespace tracectl
