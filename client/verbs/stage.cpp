// SPDX-License-Identifier: BSD-2-Clause
//
// A session's draft: edited, and put into force or thrown away.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/connection/ask.h"
#include "client/render/text.h"
#include "client/target/target.h"
#include "client/verbs/all.h"
#include "client/verbs/session_verb.h"
#include "client/verbs/shared_options.h"
#include "client/verbs/staging.h"

namespace tracectl {
namespace {

using namespace protocol;

// ---- stage ----

std::optional<GraphPart> graph_of(const std::optional<std::string>& keep_if) {
  if (!keep_if) return std::nullopt;
  GraphPart part;
  part.keep_if = keep_if;
  return part;
}

std::string spec_text(const SpecPart& spec) {
  return "do:   " + spec.action + "\n" + (spec.when ? "when: " + *spec.when + "\n" : "") +
         (spec.keep_if ? "keep: if " + *spec.keep_if + "\n" : "") + "cost: at most " +
         plural(spec.instructions, "instruction") + " for each hit\n" +
         (spec.returns ? "returns: by " + *spec.returns + ": " + *spec.returns_because + "\n"
                       : "") +
         (spec.may_wait ? "memory: a hit may wait for a page that is not present\n" : "");
}

std::string stage_text(const StageReply& reply) {
  std::string text = "the draft has " + plural(reply.settings, "setting");
  if (reply.sites)
    text += "; this covers " + plural(reply.probes, "probe") + ", " + plural(reply.sites, "site");
  text += '\n';
  for (const std::string& note : reply.notes) text += "note: " + note + "\n";
  if (reply.spec) text += spec_text(*reply.spec);
  return text + refusals_text(reply.refused);
}

Error command_in_session() {
  return Error{Code::invalid,
               "a command cannot be staged: it would wait for a commit that may never come; use "
               "trace or count for -- COMMAND"};
}

// SESSION comes before the verb: stage SESSION set.
class EditDraft : public Verb {
 public:
  explicit EditDraft(std::shared_ptr<const std::string> session) : session_(std::move(session)) {}
  // Staging refuses commands, and explains why.
  std::vector<std::string>* command() override { return &probes_.command; }

  int run(const CommonOptions& common) override {
    if (!probes_.command.empty()) return fail(command_in_session()), kUsage;
    auto target = choose_target(probes_);
    if (!target) return fail(target.error());
    return stage(common, *target);
  }

 protected:
  virtual int stage(const CommonOptions& common, const ChosenTarget& target) = 0;
  const std::string& session() const { return *session_; }

  ProbeOptions probes_;

 private:
  std::shared_ptr<const std::string> session_;
};

class SetInDraft final : public EditDraft {
 public:
  using EditDraft::EditDraft;
  void add_options(Grammar& grammar) override {
    add_probe_options(grammar, probes_);
    add_do(grammar, action_);
    add_from(grammar, latency_);
    add_when(grammar, when_);
    add_keep_if(grammar, keep_if_);
    add_returns(grammar, returns_);
    add_types(grammar, types_);
    grammar.flag("--explain", explain_, "say how the spec was read, and what it costs");
  }

 protected:
  int stage(const CommonOptions& common, const ChosenTarget& target) override {
    return with_backend(common, Backend::Needs::daemon, [&](Backend& backend) -> int {
      auto staged = stage_setting(common, backend, probes_, target, types_, request());
      if (!staged) return fail(staged.error());
      show<StageReply>(common, *staged, stage_text);
      return kDone;
    });
  }

 private:
  StageSet request() const {
    return {.session = session(),
            .patterns = {},
            .target = {},
            .action = action_,
            .when = when_,
            .returns = returns_,
            .from = latency_.from,
            .by = latency_.by,
            .slowest = latency_.slowest,
            .graph = graph_of(keep_if_),
            .explain = explain_};
  }

  std::string action_ = "event";
  std::optional<std::string> when_, keep_if_;
  std::string returns_ = "auto";
  std::string types_;
  LatencyOptions latency_;
  bool explain_ = false;
};

// None: the setting is removed whatever its target is.
std::optional<TargetPart> target_to_remove(const ChosenTarget& chosen) {
  if (!is_chosen(chosen.part)) return std::nullopt;
  return with_names(chosen.part, chosen.containers);
}

class RemoveFromDraft final : public EditDraft {
 public:
  using EditDraft::EditDraft;
  void add_options(Grammar& grammar) override { add_probe_options(grammar, probes_); }

 protected:
  int stage(const CommonOptions& common, const ChosenTarget& target) override {
    return ask(common, Backend::Needs::daemon,
               StageRemove{.session = session(),
                           .patterns = probes_.patterns,
                           .scope = scope_of(probes_),
                           .target = target_to_remove(target)},
               stage_text);
  }
};

// ---- commit, abort ----

class CommitDraft final : public SessionVerb {
 public:
  void add_options(Grammar& grammar) override {
    SessionVerb::add_options(grammar);
    add_refusals(grammar, partial_, strict_);
    add_yes(grammar, yes_);
    grammar.flag("--dry-run", dry_run_, "say what would be done, and do nothing");
  }
  int run(const CommonOptions& common) override {
    return ask(common, Backend::Needs::daemon,
               StageCommit{.session = session_,
                           .partial = partial_,
                           .strict = strict_,
                           .most_added = most_added(yes_),
                           .dry_run = dry_run_},
               [&](const CommitReply& reply) { return commit_text(reply, common.verbose); });
  }

 private:
  bool partial_ = false, strict_ = false, yes_ = false;
  bool dry_run_ = false;
};

std::string nothing(const Empty&) { return {}; }

class AbortDraft final : public SessionVerb {
 public:
  int run(const CommonOptions& common) override {
    return ask(common, Backend::Needs::daemon, StageAbort{session_}, nothing);
  }
};

}  // namespace

void add_stage(Grammar grammar) {
  Grammar stage = grammar.group("stage", "edit a session's draft: stage SESSION set|remove");
  const auto name = std::make_shared<std::string>();
  stage.option("SESSION", *name, "its name").required();
  stage.verb<SetInDraft>("set", "add settings to the draft", name);
  stage.verb<RemoveFromDraft>("remove", "take settings out of the draft", name);
  grammar.verb<CommitDraft>("commit", "switch a session to its draft, in one atomic step");
  grammar.verb<AbortDraft>("abort", "throw a session's draft away");
}

}  // namespace tracectl
