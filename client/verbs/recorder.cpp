// SPDX-License-Identifier: BSD-2-Clause
//
// recorder: a session with a flight recorder in one step, as session new, stage set and commit make it in three.
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

#include "client/connection/ask.h"
#include "client/options/recorder_bound.h"
#include "client/render/recorder.h"
#include "client/render/text.h"
#include "client/target/target.h"
#include "client/verbs/all.h"
#include "client/verbs/shared_options.h"
#include "client/verbs/staging.h"

namespace tracectl {
namespace {

using namespace protocol;

class StartRecorder final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    add_probe_options(grammar, probes_);
    grammar.option("--name", name_, "of the session").shows_default();
    grammar.option("--size", size_, "how much is kept: 64M, 10s, or 64M,10s")
        .value_name("SIZE|TIME")
        .shows_default()
        .check(check_recorder_bound);
    grammar.flag("--on-crash", on_crash_, "dump it when a process that it traces crashes");
    grammar
        .option("--on-signal", on_signals_,
                "dump it when this signal ends such a process: TERM, 9; repeatable")
        .value_name("SIGNAL")
        .one_at_a_time()
        .check([](const std::string& signal) { return check_dump_on("signal:" + signal); });
    grammar
        .option("--on-exit", on_exits_,
                "dump it when such a process exits with this status, 1 to 255; repeatable")
        .value_name("STATUS")
        .one_at_a_time()
        .check([](const std::string& status) { return check_dump_on("exit:" + status); });
    grammar.flag("--on-failure", on_failure_, "dump it when one of the units of -u fails");
    grammar.flag("--saved", saved_, "it goes on when the daemon is restarted or upgraded");
    add_do(grammar, action_);
    add_when(grammar, when_);
    add_returns(grammar, returns_);
    add_types(grammar, types_);
    add_budget(grammar, budget_);
    add_refusals(grammar, partial_, strict_);
    add_yes(grammar, yes_);
  }
  // Refused, with the reason, as a command would have to wait for a dump.
  std::vector<std::string>* command() override { return &probes_.command; }

  Status complete(const CommonOptions&) override {
    if (!probes_.command.empty())
      return Error{Code::invalid,
                   "a recorder outlives this command, and -- COMMAND would not: choose the program "
                   "by -x, or record -- COMMAND"};
    if (on_failure_ && probes_.units.empty())
      return Error{Code::invalid, "--on-failure is of units: name them with -u"};
    return ok();
  }

  int run(const CommonOptions& common) override {
    auto target = choose_target(probes_);
    if (!target) return fail(target.error());
    return with_backend(common, Backend::Needs::daemon, [&](Backend& backend) -> int {
      auto created = create(backend);
      if (!created) return fail(created.error());
      auto begun = begin(common, backend, *target);
      if (!begun) {
        if (auto deleted = backend.call(SessionDelete{name_}); !deleted)
          print_error(error_text(deleted.error()));
        return fail(begun.error());
      }
      print_error(notes_text(begun->notes) + refusals_text(begun->refused));
      auto session = backend.call(SessionShow{name_});
      if (!session) return fail(session.error());
      show<SessionPart>(common, *session, [&](const SessionPart& part) { return text_of(part); });
      return kDone;
    });
  }

 private:
  Result<SessionPart> create(Backend& backend) const {
    auto bound = parse_recorder_bound(size_);
    if (!bound) return bound.error();
    SessionCreate request{.name = name_, .budget = budget_, .saved = saved_};
    request.recorder = *bound;
    if (causes().empty()) return backend.call(request);
    auto dump_on = parse_dump_on(causes());
    if (!dump_on) return dump_on.error();
    request.dump_on = *dump_on;
    return backend.call(request);
  }

  std::vector<std::string> causes() const {
    std::vector<std::string> all;
    if (on_crash_) all.push_back("crash");
    for (const std::string& signal : on_signals_) all.push_back("signal:" + signal);
    for (const std::string& status : on_exits_) all.push_back("exit:" + status);
    if (on_failure_)
      for (const std::string& unit : probes_.units) all.push_back("failed:" + unit);
    return all;
  }

  Result<CommitReply> begin(const CommonOptions& common, Backend& backend,
                            const ChosenTarget& target) const {
    StageSet setting{.session = name_,
                     .patterns = {},
                     .target = {},
                     .action = action_,
                     .when = when_,
                     .returns = returns_};
    auto staged = stage_setting(common, backend, probes_, target, types_, std::move(setting));
    if (!staged) return staged.error();
    return backend.call(StageCommit{
        .session = name_, .partial = partial_, .strict = strict_, .most_added = most_added(yes_)});
  }

  std::string text_of(const SessionPart& session) const {
    return fmt::format(
        "{}: {} and {} armed\n{}{}{}: take it; {}: end it\n", name_,
        plural(session.probes, "probe"), plural(session.sites, "site"),
        session.recorder ? recorder_text(*session.recorder) : "",
        !causes().empty() ? "each dump is in the daemon's directory, and in its log\n" : "",
        "tracectl dump " + name_ + " -o FILE", "tracectl session delete " + name_);
  }

  ProbeOptions probes_;
  std::string name_ = "recorder";
  std::string size_ = "16M";
  std::string action_ = "event";
  std::optional<std::string> when_;
  std::string returns_ = "auto";
  std::string types_;
  std::optional<double> budget_;
  std::vector<std::string> on_signals_, on_exits_;
  bool on_crash_ = false, on_failure_ = false, saved_ = false;
  bool partial_ = false, strict_ = false, yes_ = false;
};

}  // namespace

void add_recorder(Grammar grammar) {
  grammar.verb<StartRecorder>("recorder",
                              "keep the last events in memory, and dump them on a crash");
}

}  // namespace tracectl
