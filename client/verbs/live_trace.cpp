// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/live_trace.h"

#include <algorithm>
#include <cstring>

#include "client/connection/ask.h"
#include "client/output/output.h"
#include "client/render/keys.h"
#include "client/render/text.h"
#include "client/target/debug_files.h"
#include "client/target/target_files.h"

namespace tracectl {

using namespace protocol;

// ---- up to the commit ----

Status LiveTrace::begin(Stream stream) {
  auto created = backend_.call(SessionCreate{.budget = options_.budget});
  if (!created) return created.error();
  session_ = created->name;
  proofs_.emplace(backend_, session_);
  if (auto proven = proofs_->prove(processes_of(target_.part)); !proven) return proven;
  if (auto held = hold_targets(); !held) return held;
  if (auto staged = stage_all(); !staged) return staged;
  if (stream != Stream::none)
    if (auto subscribed = backend_.call(SessionSubscribe{session_, stream == Stream::described});
        !subscribed)
      return subscribed.error();
  auto committed = backend_.call(StageCommit{.session = session_,
                                             .partial = options_.partial,
                                             .strict = options_.strict,
                                             .dry_run = options_.dry_run});
  if (!committed) return committed.error();
  committed_ = std::move(*committed);
  // Last, so that an existing recording is not lost to one that fails to start.
  return file_ && !options_.dry_run ? file_->start(backend_, session_) : ok();
}

// The end of all targets ends the trace, unless other processes can still appear.
Status LiveTrace::hold_targets() {
  if (others_can_come()) return ok();
  if (target_.command) {
    waiter_.end_with(target_.command->pidfd());
    return ok();
  }
  for (const int64_t pid : target_.part.pids) {
    auto process = Process::open(static_cast<pid_t>(pid));
    if (!process) return process.error();
    waiter_.end_with(process->pidfd());
    processes_.push_back(std::move(*process));
  }
  return ok();
}

bool LiveTrace::others_can_come() const {
  const auto& part = target_.part;
  return part.all || !part.executables.empty() || !part.units.empty() || !part.cgroups.empty();
}

// If any of the settings suffices, those that find nothing in the target are left out.
Status LiveTrace::stage_all() {
  std::optional<Error> found_nothing;
  std::vector<const TraceOptions*> settings{&options_};
  for (const TraceOptions& setting : options_.beside) settings.push_back(&setting);
  for (const TraceOptions* setting : settings) {
    auto staged = stage(*setting);
    if (staged) continue;
    if (!options_.any_of || staged.error().code != Code::not_found) return staged;
    if (!found_nothing) found_nothing = staged.error();
  }
  if (staged_.empty()) return *found_nothing;
  if (options_.any_of && sites_staged_ == 0 && !others_can_come())
    return Error{Code::not_found, awaited_, "patterns"};
  return ok();
}

namespace {

std::optional<GraphPart> graph_of(const TraceOptions& setting) {
  if (!setting.graph) return std::nullopt;
  return GraphPart{setting.graph->only, setting.graph->skip, setting.graph->beside,
                   setting.graph->grow, setting.graph->keep_if};
}

}  // namespace

Status LiveTrace::stage(const TraceOptions& setting) {
  StageSet request{.session = session_,
                   .patterns = setting.probes.patterns,
                   .scope = scope_of(setting.probes),
                   .target = target_.part,
                   .action = setting.action,
                   .when = setting.when,
                   .returns = setting.returns,
                   .from = setting.latency.from,
                   .by = setting.latency.by,
                   .slowest = setting.latency.slowest,
                   .graph = graph_of(setting)};
  const auto opened = open_files(request);
  request.files = opened.paths;
  auto staged = backend_.call_with(request, opened.descriptors());
  if (!staged) return staged.error();
  staged_.push_back(&setting);
  sites_staged_ += staged->sites;
  if (awaited_.empty() && !staged->notes.empty()) awaited_ = staged->notes.front();
  return ok();
}

// ---- while it runs ----

Result<Ended> LiveTrace::run(const Follower& follower) {
  if (target_.command)
    if (auto released = release(*target_.command); !released) return released.error();
  if (options_.seconds)
    if (auto set = waiter_.end_after(*options_.seconds); !set) return set.error();
  if (options_.graph && options_.graph->grow) growth_.emplace(backend_, session_);
  if (options_.budget) budget_.emplace(backend_, session_, follower.prints_json);
  // If its events are read, they are handled first.
  if (!follower.takes_events) waiter_.depend_on(backend_.events_fd());
  auto ended = waiter_.run(
      follower.takes_events ? backend_.events_fd() : -1, [&] { return go_on(follower); },
      interval_ms(follower));
  if (auto proven = proofs_->end(); !proven) return proven.error();
  print_error(unproven_text(proofs_->unproven()));
  if (!ended || !budget_) return ended;
  if (auto looked = budget_->look(); !looked) return looked.error();
  return budget_->is_nothing_left() ? Ended::nothing_left : ended;
}

Result<Ended> LiveTrace::run(EventPrinter& printer) {
  return run({.go_on = [&] { return printer.print_from(backend_); },
              .takes_events = true,
              .prints_json = printer.is_json(),
              .every_ms = printer.interval_ms()});
}

// An exec ends a proof, so the program that the command has become is proven before it runs.
Status LiveTrace::release(Command& command) {
  if (!proofs_->are_needed()) return command.release();
  return command.release([&] { return proofs_->prove({command.pid()}); });
}

// False ends the trace.
Result<bool> LiveTrace::go_on(const Follower& follower) {
  if (auto proven = proofs_->go_on(); !proven) return proven.error();
  if (growth_) growth_->go_on();
  if (budget_) {
    if (auto looked = budget_->go_on(); !looked) return looked.error();
    if (budget_->is_nothing_left()) return false;
  }
  return follower.go_on();
}

// How often, in ms, go_on() must be called even without new events.
int LiveTrace::interval_ms(const Follower& follower) const {
  int least = follower.every_ms;
  const auto at_most = [&](int ms) { least = least < 0 ? ms : std::min(least, ms); };
  if (growth_) at_most(Growth::kEveryMs);
  if (budget_) at_most(BudgetWatch::kEveryMs);
  if (proofs_->are_needed()) at_most(Proofs::kEveryMs);
  return least;
}

// ---- at the end ----

Status LiveTrace::switch_off() {
  for (const TraceOptions* setting : staged_) {
    auto removed = backend_.call(StageRemove{.session = session_,
                                             .patterns = setting->probes.patterns,
                                             .scope = scope_of(setting->probes),
                                             .target = std::nullopt});
    if (!removed) return removed.error();
  }
  auto committed = backend_.call(StageCommit{.session = session_});
  if (!committed) return committed.error();
  return ok();
}

Result<ReadReply> LiveTrace::read(bool quiet) {
  auto rows = backend_.call(SessionRead{.session = session_});
  if (!rows) return rows;
  name_types(*rows, options_.keys);
  DebugFiles(quiet).complete(*rows);
  return rows;
}

int LiveTrace::status_of(const Result<Ended>& ended) {
  if (!ended) return fail(ended.error());
  if (*ended == Ended::targets) report_ending();
  if (*ended == Ended::nothing_left) return fail(budget_->nothing_left());
  return *ended == Ended::interrupted ? kInterrupted : kDone;
}

// Reports how a started command ended, unless successfully.
void LiveTrace::report_ending() {
  if (!target_.command) return;
  const auto ending = target_.command->wait();
  if (!ending) return print_error(error_text(ending.error()));
  if (ending->signal)
    print_error("the command was ended by " + std::string(::strsignal(*ending->signal)) + "\n");
  else if (*ending->exit_code != 0)
    print_error("the command exited with " + std::to_string(*ending->exit_code) + "\n");
}

// ---- for verbs ----

namespace {

void report_coverage(const CommonOptions& common, const CommitReply& committed) {
  print_error(notes_text(committed.notes) + refusals_text(committed.refused));
  if (common.quiet) return;
  print_error("tracing " + plural(committed.probes, "probe") + " at " +
              plural(committed.sites, "site") + "; ^C ends it\n");
}

}  // namespace

int with_trace(const CommonOptions& common, const TraceOptions& options, LiveTrace::Stream stream,
               const std::function<int(Backend&, LiveTrace&)>& body, RecordedFile* file) {
  // Before a command is started: ^C must reach it as well as us, and not it alone.
  auto waiter = Waiter::open();
  if (!waiter) return fail(waiter.error());
  return with_backend(common, Backend::Needs::any_engine, [&](Backend& backend) -> int {
    auto target = choose_target(options.probes);
    if (!target) return fail(target.error());
    LiveTrace trace(options, backend, std::move(*target), std::move(*waiter), file);
    if (auto begun = trace.begin(stream); !begun) return fail(begun.error());
    if (options.dry_run) {
      show<CommitReply>(common, trace.committed(), commit_text);
      return kDone;
    }
    report_coverage(common, trace.committed());
    return body(backend, trace);
  });
}

}  // namespace tracectl
