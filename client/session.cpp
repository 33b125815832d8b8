// SPDX-License-Identifier: BSD-2-Clause
//
// Named sessions: staging, committing and reading step by step. All of them are in the daemon.
#include <fmt/format.h>

#include "client/connection/proofs.h"
#include "client/options/recorder_bound.h"
#include "client/output/output.h"
#include "client/render/rows.h"
#include "client/target/debug_files.h"
#include "client/target/target.h"
#include "client/target/target_files.h"
#include "client/verbs.h"
#include "daemon/protocol/saved_session.h"

namespace tracectl {
namespace {

using namespace protocol;
constexpr auto kDaemon = Backend::Needs::daemon;

std::string nothing(const Empty&) { return {}; }

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
         (spec.may_wait ? "memory: hits may wait for it where it is not there\n" : "");
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

std::string prove_text(const ProveReply& reply) {
  if (!reply.needed) return "the session sees every process; it needs no proofs\n";
  std::string text = plural(reply.proven.size(), "proof") + " taken";
  for (const int64_t pid : reply.proven)
    text += (pid == reply.proven.front() ? ": " : ", ") + std::to_string(pid);
  return text + "\n" + unproven_text(reply.unproven);
}

Error command_in_session() {
  return Error{Code::invalid,
               "a command cannot be staged: it would wait for a commit that may never come; use "
               "trace or count for -- COMMAND"};
}

}  // namespace

int run_session_new(const CommonOptions& common, const SessionOptions& options) {
  SessionCreate request{.name = options.name, .budget = options.budget, .saved = options.saved};
  if (options.recorder) {
    auto bound = parse_recorder_bound(*options.recorder);
    if (!bound) return fail(bound.error());
    request.recorder = *bound;
  }
  if (!options.dump_on.empty()) {
    auto causes = parse_dump_on(options.dump_on);
    if (!causes) return fail(causes.error());
    request.dump_on = *causes;
  }
  return ask(common, kDaemon, request, {[](const SessionPart& session) {
               return "session " + session.name + " is there; tracectl stage " + session.name +
                      " set PATTERN... adds to it\n";
             }});
}

int run_session_list(const CommonOptions& common) {
  return ask(common, kDaemon, SessionList{}, sessions_text);
}

int run_session_show(const CommonOptions& common, const std::string& name) {
  return ask(common, kDaemon, SessionShow{name}, session_text);
}

// Prints a file for the daemon's directory of saved sessions, with --json or without.
int run_session_save(const CommonOptions& common, const std::string& name) {
  return with_backend(common, kDaemon, [&](Backend& backend) -> int {
    auto session = backend.call(SessionShow{name});
    if (!session) return fail(session.error());
    const auto document = saved(*session);
    if (!document) return fail(document.error());
    print(text_of(to_json(*document)) + "\n");
    return kDone;
  });
}

int run_session_prove(const CommonOptions& common, const std::string& name,
                      const std::vector<int64_t>& pids) {
  return with_backend(common, kDaemon, [&](Backend& backend) -> int {
    const auto answer = Proofs(backend, name).prove_all({pids.begin(), pids.end()});
    if (!answer) return fail(answer.error());
    show<ProveReply>(common, *answer, prove_text);
    return kDone;
  });
}

int run_session_delete(const CommonOptions& common, const std::string& name) {
  return ask(common, kDaemon, SessionDelete{name}, switch_text);
}

int run_stage_set(const CommonOptions& common, const StageOptions& options) {
  if (!options.probes.command.empty()) return fail(command_in_session()), kUsage;
  auto target = choose_target(options.probes);
  if (!target) return fail(target.error());
  StageSet request{.session = options.session,
                   .patterns = options.probes.patterns,
                   .scope = scope_of(options.probes),
                   .target = target->part,
                   .action = options.action,
                   .when = options.when,
                   .returns = options.returns,
                   .from = options.latency.from,
                   .by = options.latency.by,
                   .slowest = options.latency.slowest,
                   .graph = graph_of(options.keep_if),
                   .explain = options.explain};
  const auto opened = open_files(request);
  request.files = opened.paths;
  return with_backend(common, kDaemon, [&](Backend& backend) -> int {
    Proofs proofs(backend, options.session);
    if (auto proven = proofs.prove(processes_of(request.target)); !proven)
      return fail(proven.error());
    auto staged = backend.call_with(request, opened.descriptors());
    if (!staged) return fail(staged.error());
    show<StageReply>(common, *staged, stage_text);
    return kDone;
  });
}

int run_stage_remove(const CommonOptions& common, const StageOptions& options) {
  if (!options.probes.command.empty()) return fail(command_in_session()), kUsage;
  auto target = choose_target(options.probes);
  if (!target) return fail(target.error());
  const TargetPart& part = target->part;
  const bool any = !part.pids.empty() || !part.executables.empty() || part.all ||
                   !part.units.empty() || !part.cgroups.empty();
  return ask(common, kDaemon,
             StageRemove{.session = options.session,
                         .patterns = options.probes.patterns,
                         .scope = scope_of(options.probes),
                         .target = any ? std::optional(part) : std::nullopt},
             stage_text);
}

int run_commit(const CommonOptions& common, const CommitOptionsText& options) {
  return ask(
      common, kDaemon,
      StageCommit{
          .session = options.session, .partial = options.partial, .dry_run = options.dry_run},
      commit_text);
}

int run_pause(const CommonOptions& common, const std::optional<std::string>& session) {
  return ask(common, kDaemon, SessionPause{session}, switch_text);
}

int run_resume(const CommonOptions& common, const std::optional<std::string>& session) {
  return ask(common, kDaemon, SessionResume{session}, switch_text);
}

int run_restart(const CommonOptions& common, const std::string& session) {
  return ask(common, kDaemon, SessionRestart{session}, switch_text);
}

int run_abort(const CommonOptions& common, const std::string& session) {
  return ask(common, kDaemon, StageAbort{session}, nothing);
}

int run_read(const CommonOptions& common, const std::string& session, bool clear) {
  return with_backend(common, kDaemon, [&](Backend& backend) -> int {
    auto rows = backend.call(SessionRead{.session = session, .clear = clear});
    if (!rows) return fail(rows.error());
    DebugFiles(common.quiet).complete(*rows);
    show<ReadReply>(common, *rows, rows_text);
    return kDone;
  });
}

int run_flush(const CommonOptions& common, const std::string& session) {
  return ask(common, kDaemon, SessionFlush{session}, {[](const FlushReply& reply) {
               return fmt::format("every event before {} ns since boot has been sent\n", reply.ts);
             }});
}

int run_info(const CommonOptions& common, const InfoOptions& options) {
  return ask(common, kDaemon,
             ProbeInfo{.pattern = options.pattern,
                       .scope = options.global ? "global" : "local",
                       .generations = options.generations},
             info_text);
}

}  // namespace tracectl
