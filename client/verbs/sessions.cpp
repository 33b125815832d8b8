// SPDX-License-Identifier: BSD-2-Clause
//
// Named sessions: what is in them, what they are switched to, and whether they count.
#include <memory>

#include "client/options/recorder_bound.h"
#include "client/verbs/all.h"
#include "client/verbs/session_verb.h"
#include "client/verbs/tracing.h"

namespace tracectl {
namespace {

// ---- session ----

class NewSession final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("NAME", session_.name, "of the session").required();
    grammar.flag("--saved", session_.saved, "it goes on when the daemon is restarted or upgraded");
    add_budget(grammar, session_.budget);
    const Option recorder =
        grammar
            .option("--recorder", session_.recorder,
                    "keep its last events in memory, for dump: 64M, 10s, or 64M,10s")
            .value_name("SIZE|TIME")
            .check(check_recorder_bound);
    grammar
        .option("--dump-on", session_.dump_on,
                "dump them to the daemon's directory when a process it traces crashes: crash; when "
                "a unit of systemd's fails: failed:nginx")
        .value_name("WHAT")
        .needs(recorder)
        .check(check_dump_on);
  }
  int run(const CommonOptions& common) override { return run_session_new(common, session_); }

 private:
  SessionOptions session_;
};

class ListSessions final : public Verb {
 public:
  int run(const CommonOptions& common) override { return run_session_list(common); }
};

class Prove final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("NAME", session_, "of the session").required();
    grammar.option("-p,--pid", pids_, "these processes, too").value_name("PID");
  }
  int run(const CommonOptions& common) override {
    return run_session_prove(common, session_, pids_);
  }

 private:
  std::string session_;
  std::vector<int64_t> pids_;
};

// ---- drafts ----

// NAME comes before the verb: stage NAME set.
class EditDraft : public Verb {
 public:
  explicit EditDraft(std::shared_ptr<const std::string> session) : session_(std::move(session)) {}
  Status complete(const CommonOptions&) override { return stage_.session = *session_, ok(); }
  // Staging refuses commands, and explains why.
  std::vector<std::string>* command() override { return &stage_.probes.command; }

 protected:
  StageOptions stage_;

 private:
  std::shared_ptr<const std::string> session_;
};

class SetInDraft final : public EditDraft {
 public:
  using EditDraft::EditDraft;
  void add_options(Grammar& grammar) override {
    add_probe_options(grammar, stage_.probes);
    add_do(grammar, stage_.action);
    add_from(grammar, stage_.latency);
    add_when(grammar, stage_.when);
    add_keep_if(grammar, stage_.keep_if);
    add_returns(grammar, stage_.returns);
    grammar.flag("--explain", stage_.explain, "say how the spec was read, and what it costs");
  }
  int run(const CommonOptions& common) override { return run_stage_set(common, stage_); }
};

class RemoveFromDraft final : public EditDraft {
 public:
  using EditDraft::EditDraft;
  void add_options(Grammar& grammar) override { add_probe_options(grammar, stage_.probes); }
  int run(const CommonOptions& common) override { return run_stage_remove(common, stage_); }
};

class CommitDraft final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("NAME", commit_.session, "of the session").required();
    grammar.flag("--partial", commit_.partial, "arm the rest where some sites are refused");
    grammar.flag("--dry-run", commit_.dry_run, "say what would be done, and do nothing");
  }
  int run(const CommonOptions& common) override { return run_commit(common, commit_); }

 private:
  CommitOptionsText commit_;
};

// ---- pauses ----

// Pauses or resumes one session or all.
class Pause final : public Verb {
 public:
  using Run = int (*)(const CommonOptions&, const std::optional<std::string>& session);
  explicit Pause(Run how) : run_(how) {}
  void add_options(Grammar& grammar) override {
    Option session = grammar.option("NAME", session_, "of the session");
    session.excludes(grammar.flag("--all", all_, "all sessions, by one switch"));
    grammar.at_least_one_option();
  }
  int run(const CommonOptions& common) override {
    return run_(common, all_ ? std::nullopt : std::optional(session_));
  }

 private:
  Run run_;
  std::string session_;
  bool all_ = false;
};

}  // namespace

void add_sessions(Grammar grammar) {
  Grammar session =
      grammar.group("session", "named sessions: new, list, show, prove, save, delete");
  session.verb<NewSession>("new", "make an empty session");
  session.verb<SessionVerb>("show", "its settings, its draft, its counts", run_session_show);
  session.verb<Prove>("prove", "let it see your processes that it has left out, and those of -p");
  session.verb<SessionVerb>(
      "save", "print what begins it with the daemon: for /etc/tracectl/sessions.d/NAME.json",
      run_session_save);
  session.verb<SessionVerb>("delete", "remove all its settings, and its results",
                            run_session_delete);
  session.verb<ListSessions>("list", "all sessions");

  Grammar stage = grammar.group("stage", "edit a session's draft: stage NAME set|remove");
  const auto name = std::make_shared<std::string>();
  stage.option("NAME", *name, "of the session").required();
  stage.verb<SetInDraft>("set", "add settings to the draft", name);
  stage.verb<RemoveFromDraft>("remove", "take settings out of the draft", name);
  grammar.verb<CommitDraft>("commit", "switch a session to its draft, in one atomic step");
  grammar.verb<SessionVerb>("abort", "throw a session's draft away", run_abort);

  grammar.verb<Pause>("pause", "stop counting and streaming, in one step; counters are kept",
                      run_pause);
  grammar.verb<Pause>("resume", "go on after a pause, in one step", run_resume);
  grammar.verb<SessionVerb>("restart", "set counters to zero and resume, in one step", run_restart);
}

}  // namespace tracectl
