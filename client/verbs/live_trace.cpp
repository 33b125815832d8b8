// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/live_trace.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "client/connection/ask.h"
#include "client/connection/probe_list.h"
#include "client/output/output.h"
#include "client/render/hit_estimate.h"
#include "client/render/keys.h"
#include "client/render/probe_names.h"
#include "client/render/text.h"
#include "client/target/container_keys.h"
#include "client/target/debug_files.h"
#include "client/target/libraries_ahead.h"
#include "client/target/provider_types.h"
#include "client/target/target_files.h"
#include "client/verbs/shared_options.h"
#include "daemon/protocol/messages/trouble.h"

namespace tracectl {

using namespace protocol;

// ---- up to the commit ----

namespace {

Error with_needs(Error error, const std::string& needs) {
  if (error.code == Code::not_found && error.field == "patterns" && !needs.empty())
    error.message += "; " + needs;
  return error;
}

}  // namespace

Status LiveTrace::begin(Stream stream) {
  auto named = NamedDebugFiles::open(common_.debug_paths);
  if (!named) return named.error();
  debug_files_ = std::move(*named);
  auto created = backend_.call(SessionCreate{.budget = options_.budget});
  if (!created) return created.error();
  session_ = created->name;
  proofs_.emplace(backend_, session_);
  if (auto proven = proofs_->prove(processes_of(target_.part)); !proven) return proven;
  if (auto held = hold_targets(); !held) return held;
  if (auto chosen = choose_variant(); !chosen) return with_needs(chosen.error(), options_.needs);
  const auto staged = stage_all();
  // If nothing was found, the wrong file may be the reason.
  if (staged || staged.error().code == Code::not_found)
    if (auto used = debug_files_.check_used(target_.part); !used) return used;
  if (!staged) return with_needs(staged.error(), options_.needs);
  if (stream != Stream::none)
    if (auto subscribed = backend_.call(SessionSubscribe{session_, stream == Stream::described});
        !subscribed)
      return subscribed.error();
  auto committed = backend_.call(StageCommit{.session = session_,
                                             .partial = options_.partial,
                                             .strict = options_.strict && !options_.partial,
                                             .most_added = most_added(options_.yes),
                                             .dry_run = options_.dry_run});
  if (!committed) return committed.error();
  committed_ = std::move(*committed);
  // Last, so that an existing recording is not lost to one that fails to start.
  return file_ && !options_.dry_run ? file_->start(backend_, session_) : ok();
}

namespace {

Error of_target(Error error) {
  error.field = "target";
  return error;
}

}  // namespace

// The end of the command ends the trace, or that of all targets, unless other processes can still appear.
Status LiveTrace::hold_targets() {
  if (target_.command) {
    waiter_.end_with(target_.command->pidfd());
    return ok();
  }
  if (others_can_come()) return ok();
  for (const int64_t pid : target_.part.pids) {
    auto process = Process::open(static_cast<pid_t>(pid));
    if (!process) return of_target(process.error());
    waiter_.end_with(process->pidfd());
    processes_.push_back(std::move(*process));
  }
  return ok();
}

bool LiveTrace::others_can_come() const {
  const auto& part = target_.part;
  return part.all || !part.executables.empty() || !part.units.empty() || !part.cgroups.empty();
}

// Of several variants one must be known to fit: another can give wrong results, not just none.
Status LiveTrace::choose_variant() {
  for (const TraceVariant& variant : options_.variants) {
    auto listed = list_probes(backend_, {variant.probe}, scope_of(options_.probes), target_.part,
                              debug_files_);
    if (!listed) return listed.error();
    if (listed->probes.empty())
      return Error{
          Code::not_found,
          "nothing in the target has " + variant.probe +
              " yet, whose arguments say what to do: start the program, or choose its file "
              "with -x",
          "target"};
    const auto fits = [&](const ProbePart& probe) {
      return probe.args.size() == variant.arguments;
    };
    if (std::ranges::any_of(listed->probes, fits)) settings_ = &variant.settings;
  }
  return ok();
}

// If any of the settings suffices, those that find nothing in the target are left out.
Status LiveTrace::stage_all() {
  std::optional<Error> found_nothing;
  std::vector<const TraceOptions*> settings{settings_};
  for (const TraceOptions& setting : settings_->beside) settings.push_back(&setting);
  for (const TraceOptions* setting : settings) {
    auto staged = options_.partial ? stage_each(*setting) : stage(*setting);
    if (staged) continue;
    if (!options_.any_of || staged.error().code != Code::not_found) return staged;
    if (!found_nothing) found_nothing = staged.error();
  }
  if (staged_.empty()) return *found_nothing;
  if (options_.any_of && sites_staged_ == 0 && !others_can_come())
    return Error{Code::not_found, awaited_, "patterns"};
  return ok();
}

// Leaves out the patterns that match nothing, unless that is all of them.
Status LiveTrace::stage_each(const TraceOptions& setting) {
  std::vector<Error> without_match;
  for (const std::string& pattern : setting.probes.patterns) {
    TraceOptions& one = one_by_one_.emplace_back(setting);
    one.probes.patterns = {pattern};
    auto staged = stage(one);
    if (staged) continue;
    if (staged.error().code != Code::not_found) return staged;
    without_match.push_back(staged.error());
  }
  if (without_match.size() == setting.probes.patterns.size()) return without_match.front();
  for (const Error& error : without_match) print_error("left out: " + error.message + "\n");
  return ok();
}

namespace {

std::optional<GraphPart> graph_of(const TraceOptions& setting) {
  if (!setting.graph) return std::nullopt;
  return GraphPart{setting.graph->only,    setting.graph->skip, setting.graph->beside,
                   setting.graph->imports, setting.graph->grow, setting.graph->keep_if};
}

}  // namespace

// A library that is found ahead and has no such probe need not be the one that the program will load.
Result<StageReply> LiveTrace::stage_ahead(StageSet& request) {
  const auto loaded_at_start = request.target.will_map;
  if (options_.any_of) return send(request);
  std::set<std::string> ahead;
  for (const std::string& object : objects_of(request))
    for (std::string& library : libraries_ahead(object, loaded_at_start))
      ahead.insert(std::move(library));
  request.target.will_map.insert(request.target.will_map.end(), ahead.begin(), ahead.end());
  auto staged = send(request);
  if (ahead.empty() || staged || staged.error().code != Code::not_found) return staged;
  request.target.will_map = loaded_at_start;
  return send(request);
}

Result<StageReply> LiveTrace::send(StageSet& request) {
  auto opened = open_files(request);
  request.files = opened.paths;
  request.debug_files.clear();
  debug_files_.add_to(request, opened);
  return backend_.call_with(request, opened.descriptors());
}

Status LiveTrace::stage(const TraceOptions& setting) {
  auto staged = stage_for(setting, target_.part);
  if (!staged) return staged.error();
  staged_.push_back(&setting);
  sites_staged_ += staged->sites;
  if (awaited_.empty() && !staged->notes.empty()) awaited_ = staged->notes.front();
  return ok();
}

Result<StageReply> LiveTrace::stage_for(const TraceOptions& setting, const TargetPart& target) {
  auto patterns = with_objects_of_all(backend_, setting.probes.patterns, scope_of(setting.probes),
                                      target, debug_files_);
  if (!patterns) return patterns.error();
  StageSet request{.session = session_,
                   .patterns = std::move(*patterns),
                   .scope = scope_of(setting.probes),
                   .target = target,
                   .action = setting.action,
                   .when = setting.when,
                   .returns = setting.returns,
                   .from = setting.latency.from,
                   .by = setting.latency.by,
                   .slowest = setting.latency.slowest,
                   .graph = graph_of(setting)};
  if (auto added = add_provider_types(setting.types, request); !added) return added.error();
  return stage_ahead(request);
}

// ---- while it runs ----

// Processes in the cgroup are traced as those of the target are.
Status LiveTrace::add_cgroup(const std::string& cgroup) {
  TargetPart target;
  target.cgroups = {cgroup};
  if (auto proven = proofs_->prove(processes_of(target)); !proven) return proven;
  auto added = commit_for(target);
  if (!added) (void)backend_.call(StageAbort{session_});
  return added;
}

Status LiveTrace::commit_for(const TargetPart& target) {
  for (const TraceOptions* setting : staged_)
    if (auto staged = stage_for(*setting, target); !staged) return staged.error();
  auto committed = backend_.call(StageCommit{
      .session = session_, .partial = options_.partial, .most_added = most_added(options_.yes)});
  return committed ? ok() : Status(committed.error());
}

Result<Ended> LiveTrace::run(const Follower& follower) {
  if (target_.command)
    if (auto released = release(*target_.command); !released) return released.error();
  if (options_.seconds)
    if (auto set = waiter_.end_after(*options_.seconds); !set) return set.error();
  LaterContainers later(options_.probes, target_.part.cgroups);
  if (later.are_awaited())
    joining_.emplace(
        std::move(later), [this](const std::string& cgroup) { return add_cgroup(cgroup); },
        common_.quiet);
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
  if (!proofs_->are_needed()) {
    auto released = command.release();
    has_released_ = released.has_value();
    return released;
  }
  return command.release([&] {
    has_released_ = true;
    return proofs_->prove({command.pid()});
  });
}

// False ends the trace.
Result<bool> LiveTrace::go_on(const Follower& follower) {
  if (auto proven = proofs_->go_on(); !proven) return proven.error();
  if (growth_) growth_->go_on();
  if (joining_) joining_->go_on();
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
  if (joining_) at_most(Joining::kEveryMs);
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

Result<ReadReply> LiveTrace::read() {
  auto rows = backend_.call(SessionRead{.session = session_});
  if (!rows) return rows;
  name_types(*rows, keys());
  add_demangled(rows->rows);
  if (!names_) names_.emplace(common_);
  names_->complete(*rows);
  if (!common_.json) name_containers(*rows);
  return rows;
}

namespace {

TroublePart trouble_part(const Error& error) {
  TroublePart part;
  part.trouble.code = number_of(error.code);
  part.trouble.message = error.message;
  part.trouble.data.code = protocol::name_of(error.code);
  if (!error.field.empty()) part.trouble.data.field = error.field;
  return part;
}

}  // namespace

int LiveTrace::status_of(const Result<Ended>& ended) {
  const bool missed_some = report_unseen();
  const int status = status_of_end(ended);
  return missed_some && options_.strict && status != kInterrupted ? int{kTroubleOfTracing} : status;
}

// Whether files that came after the commit, such as libraries, ran before they were armed.
bool LiveTrace::report_unseen() {
  const auto shown = backend_.call(SessionShow{session_});
  if (!shown) return false;
  bool any = false;
  for (const FollowedPart& one : shown->followed) {
    if (one.unobserved_us == 0) continue;
    any = true;
    const Error unseen{Code::unsupported, unseen_text(one), "target"};
    print_error("tracectl: " + unseen.message + "\n");
    if (common_.json) print(text_of(to_json(trouble_part(unseen))) + "\n");
  }
  return any;
}

int LiveTrace::status_of_end(const Result<Ended>& ended) {
  if (!ended) return failed(ended.error());
  if (*ended == Ended::nothing_left) return failed(budget_->nothing_left());
  if (*ended == Ended::interrupted) return kInterrupted;
  if (!target_.command || *ended == Ended::output_closed) return kDone;
  if (*ended == Ended::targets) return status_of_command();
  if (!options_.end_command) return kDone;
  if (auto over = end_command(); !over) return failed(over.error());
  return kDone;
}

// Tracing has failed: the command goes on, and its end is waited for.
int LiveTrace::failed(const Error& error) {
  if (!has_released_) return fail(error);
  print_error(error_text(error));
  if (common_.json) print(text_of(to_json(trouble_part(error))) + "\n");
  const int status = status_of_command();
  return options_.strict ? int{kTroubleOfTracing} : status;
}

int LiveTrace::status_without(const Result<Ended>& ended, const Error& nothing) {
  print_error(error_text(nothing));
  const int status = status_of(ended);
  return status == kDone ? exit_status_of(nothing) : status;
}

// Waits for the command's end, or ^C. Reports how it ended, unless successfully.
int LiveTrace::status_of_command() {
  Command& command = *target_.command;
  const auto interrupted = waiter_.wait_for_end(command.pidfd());
  if (!interrupted) return fail(interrupted.error());
  if (*interrupted) return kInterrupted;
  const auto ending = command.wait();
  if (!ending) return fail(ending.error());
  if (ending->signal) {
    print_error("the command was ended by " + std::string(::strsignal(*ending->signal)) + "\n");
    return kEndedBySignal + *ending->signal;
  }
  if (*ending->exit_code != 0)
    print_error("the command exited with " + std::to_string(*ending->exit_code) + "\n");
  return *ending->exit_code;
}

Status LiveTrace::end_command() {
  if (auto sent = target_.command->terminate(); !sent) return sent;
  const auto interrupted = waiter_.wait_for_end(target_.command->pidfd());
  if (!interrupted) return interrupted.error();
  if (*interrupted) return ok();
  const auto ending = target_.command->wait();
  return ending ? ok() : Status(ending.error());
}

// Files can be mapped and programs executed after the commit; then the session has armed them since.
std::optional<Error> LiveTrace::why_nothing() {
  if (committed_.sites > 0) return std::nullopt;
  const auto shown = backend_.call(SessionShow{session_});
  if (!shown || shown->sites > 0 || shown->hits > 0) return std::nullopt;
  return Error{Code::not_found, "nothing was armed" + (awaited_.empty() ? "" : ": " + awaited_),
               "target"};
}

// ---- for verbs ----

namespace {

void report_coverage(const CommonOptions& common, const CommitReply& committed) {
  print_error(notes_text(committed.notes) + refusals_text(committed.refused));
  if (common.quiet) return;
  const std::string hits = hit_estimate_text(committed);
  print_error("tracing " + plural(committed.probes, "probe") + " at " +
              plural(committed.sites, "site") + (hits.empty() ? "" : ", " + hits) +
              "; ^C ends it\n");
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
    LiveTrace trace(common, options, backend, std::move(*target), std::move(*waiter), file);
    if (auto begun = trace.begin(stream); !begun) return fail(begun.error());
    if (options.dry_run) {
      show<CommitReply>(common, trace.committed(),
                        [](const CommitReply& reply) { return commit_text(reply, false); });
      return kDone;
    }
    report_coverage(common, trace.committed());
    return body(backend, trace);
  });
}

}  // namespace tracectl
