// SPDX-License-Identifier: BSD-2-Clause
//
// trace, count and hist: an unnamed session that is staged, committed, and deleted at the end.
#include <algorithm>
#include <cstring>
#include <functional>

#include "client/connection/budget.h"
#include "client/connection/event_printer.h"
#include "client/connection/growth.h"
#include "client/connection/proofs.h"
#include "client/connection/wait.h"
#include "client/output/output.h"
#include "client/recording/recorded_file.h"
#include "client/render/keys.h"
#include "client/render/rows.h"
#include "client/report.h"
#include "client/target/debug_files.h"
#include "client/target/target.h"
#include "client/target/target_files.h"
#include "client/verbs.h"
#include "daemon/process/process.h"
#include "daemon/protocol/stacks.h"

namespace tracectl {
namespace {

using namespace protocol;

std::optional<GraphPart> graph_of(const TraceOptions& setting) {
  if (!setting.graph) return std::nullopt;
  return GraphPart{setting.graph->only, setting.graph->skip, setting.graph->beside,
                   setting.graph->grow, setting.graph->keep_if};
}

class Trace {
 public:
  Trace(const TraceOptions& options, Backend& backend, ChosenTarget target, Waiter waiter,
        RecordedFile* file)
      : options_(options),
        backend_(backend),
        target_(std::move(target)),
        waiter_(std::move(waiter)),
        file_(file) {}

  // Everything up to the commit. No code of a target runs before its probes are armed.
  enum class Stream { none, plain, described };
  Status begin(Stream stream) {
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
    auto committed = backend_.call(
        StageCommit{.session = session_, .partial = options_.partial, .dry_run = options_.dry_run});
    if (!committed) return committed.error();
    committed_ = std::move(*committed);
    // Last, so that an existing recording is not lost to one that fails to start.
    return file_ && !options_.dry_run ? file_->start(backend_, session_) : ok();
  }

  // Disarms all probes; the results can still be read.
  Status switch_off() {
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

  // Reports how a started command ended, unless successfully.
  void tell_ending() {
    if (!target_.command) return;
    const auto ending = target_.command->wait();
    if (!ending) return print_error(error_text(ending.error()));
    if (ending->signal)
      print_error("the command was ended by " + std::string(::strsignal(*ending->signal)) + "\n");
    else if (*ending->exit_code != 0)
      print_error("the command exited with " + std::to_string(*ending->exit_code) + "\n");
  }

  const CommitReply& committed() const { return committed_; }
  const std::string& session() const { return session_; }

  // Handles what arrives while the trace runs.
  struct Follower {
    std::function<Result<bool>()> go_on = [] { return Result<bool>(true); };  // false: ends it
    bool takes_events = false;  // called whenever events have arrived,
    bool prints_json = false;
    int every_ms = -1;  // and after this time without events, unless negative
  };
  Result<Ended> run(const Follower& follower) {
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

  Result<Ended> run(EventPrinter& printer) {
    return run({.go_on = [&] { return printer.print_from(backend_); },
                .takes_events = true,
                .prints_json = printer.is_json(),
                .every_ms = printer.interval_ms()});
  }
  Result<Ended> run() { return run(Follower{}); }
  // For traces that end because nothing is left.
  Error nothing_left() const { return budget_->nothing_left(); }

 private:
  // An exec ends a proof, so the program that the command has become is proven before it runs.
  Status release(Command& command) {
    if (!proofs_->are_needed()) return command.release();
    return command.release([&] { return proofs_->prove({command.pid()}); });
  }

  // False ends the trace.
  Result<bool> go_on(const Follower& follower) {
    if (auto proven = proofs_->go_on(); !proven) return proven.error();
    if (growth_) growth_->go_on();
    if (budget_) {
      if (auto looked = budget_->go_on(); !looked) return looked.error();
      if (budget_->is_nothing_left()) return false;
    }
    return follower.go_on();
  }

  // How often, in ms, go_on() must be called even without new events.
  int interval_ms(const Follower& follower) const {
    int least = follower.every_ms;
    const auto at_most = [&](int ms) { least = least < 0 ? ms : std::min(least, ms); };
    if (growth_) at_most(Growth::kEveryMs);
    if (budget_) at_most(BudgetWatch::kEveryMs);
    if (proofs_->are_needed()) at_most(Proofs::kEveryMs);
    return least;
  }

  Status stage(const TraceOptions& setting) {
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

  // If any of the settings suffices, those that find nothing in the target are left out.
  Status stage_all() {
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

  bool others_can_come() const {
    const auto& part = target_.part;
    return part.all || !part.executables.empty() || !part.units.empty() || !part.cgroups.empty();
  }

  // The end of all targets ends the trace, unless other processes can still appear.
  Status hold_targets() {
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

  const TraceOptions& options_;
  Backend& backend_;
  ChosenTarget target_;
  Waiter waiter_;
  RecordedFile* file_;  // may be null
  std::vector<Process> processes_;
  std::string session_;
  std::vector<const TraceOptions*> staged_;
  uint64_t sites_staged_ = 0;
  std::string awaited_;  // the first note that explains why nothing is covered
  CommitReply committed_;
  std::optional<Growth> growth_;
  std::optional<BudgetWatch> budget_;
  std::optional<Proofs> proofs_;  // set once there is a session
};

void tell_coverage(const CommonOptions& common, const CommitReply& committed) {
  for (const std::string& note : committed.notes) print_error("tracectl: note: " + note + "\n");
  print_error(refusals_text(committed.refused));
  if (common.quiet) return;
  print_error("tracing " + plural(committed.probes, "probe") + " at " +
              plural(committed.sites, "site") + "; ^C ends it\n");
}

// Creates everything that these verbs need, then runs `body`.
template <class Body>
int with_trace(const CommonOptions& common, const TraceOptions& options, Trace::Stream stream,
               Body&& body, RecordedFile* file = nullptr) {
  // Before a command is started: ^C must reach it as well as us, and not it alone.
  auto waiter = Waiter::open();
  if (!waiter) return fail(waiter.error());
  return with_backend(common, Backend::Needs::any_engine, [&](Backend& backend) -> int {
    auto target = choose_target(options.probes);
    if (!target) return fail(target.error());
    Trace trace(options, backend, std::move(*target), std::move(*waiter), file);
    if (auto begun = trace.begin(stream); !begun) return fail(begun.error());
    if (options.dry_run) {
      show<CommitReply>(common, trace.committed(), commit_text);
      return kDone;
    }
    tell_coverage(common, trace.committed());
    return body(backend, trace);
  });
}

int status_of(const Result<Ended>& ended, Trace& trace) {
  if (!ended) return fail(ended.error());
  if (*ended == Ended::targets) trace.tell_ending();
  if (*ended == Ended::nothing_left) return fail(trace.nothing_left());
  return *ended == Ended::interrupted ? kInterrupted : kDone;
}

// If no table shows it.
void tell_filtered(const ReadReply& read) {
  if (read.total_filtered) print_error(plural(read.total_filtered, "hit") + " filtered out\n");
}

Status print_rest(Backend& backend, const std::string& session, EventPrinter& printer) {
  auto flushed = backend.call(SessionFlush{session});
  if (!flushed) return flushed.error();
  if (auto printed = printer.print_from(backend); !printed) return printed.error();
  return ok();
}

Result<ReadReply> read_rows(const CommonOptions& common, Backend& backend, const Trace& trace,
                            const TraceOptions& options) {
  auto rows = backend.call(SessionRead{.session = trace.session()});
  if (!rows) return rows;
  name_types(*rows, options.keys);
  DebugFiles(common.quiet).complete(*rows);
  return rows;
}

}  // namespace

namespace {

EventPrinter::Shown shown_by(const TraceOptions& options, bool is_json) {
  if (options.folded) return EventPrinter::Shown::folded_stacks;
  if (options.deepest && !is_json) return EventPrinter::Shown::deepest_stacks;
  return options.graph ? EventPrinter::Shown::graph : EventPrinter::Shown::events;
}

GraphOptions graph_options(const TraceOptions& options) {
  if (!options.graph) return {};
  return {.arguments = options.graph->arguments,
          .results = options.graph->results,
          .colour = is_coloured(),
          .min_duration_ns = options.graph->min_duration_ns};
}

}  // namespace

int run_trace(const CommonOptions& common, const TraceOptions& options) {
  if (options.record) return run_record(common, options);
  const auto stream = common.json ? Trace::Stream::plain : Trace::Stream::described;
  return with_trace(common, options, stream, [&](Backend& backend, Trace& trace) -> int {
    EventPrinter printer(common, trace.session(), shown_by(options, common.json),
                         graph_options(options));
    const auto ended = trace.run(printer);
    if (!ended || *ended == Ended::output_closed) return status_of(ended, trace);
    if (auto off = trace.switch_off(); !off) return fail(off.error());
    if (auto rest = print_rest(backend, trace.session(), printer); !rest) return fail(rest.error());
    printer.finish();
    if (!common.quiet) print_error(printer.summary());
    print(printer.folded().text());
    print(printer.deepest().text(options.rows));
    auto rows = read_rows(common, backend, trace, options);
    const bool any = rows && (!rows->rows.empty() || rows->latencies);
    if (any && !common.json)
      print(first_rows_text(titled(std::move(*rows), options.keys), options.rows));
    if (rows && !any && !common.quiet) tell_filtered(*rows);
    return status_of(ended, trace);
  });
}

namespace {

std::string folded_text(const ReadReply& read) {
  FoldedStacks folded;
  for (const RowPart& row : read.rows)
    if (auto stack = stack_of(row.stack, row.stack_by, row.stack_end); stack && *stack)
      folded.add(**stack, row.count);
  return folded.text();
}

// Reports what the sums lack.
void tell_missing(const ReadReply& read) {
  if (read.dropped_keys)
    print_error("tracectl: note: " + plural(read.dropped_keys, "call") +
                " not counted: there was no room for more ways of calls; name fewer functions, or "
                "set --depth\n");
  if (read.cut)
    print_error("tracectl: note: " + plural(read.cut, "call") +
                " cut off: too many were open in their thread\n");
}

}  // namespace

int run_graph(const CommonOptions& common, const TraceOptions& options) {
  if (options.graph->form == GraphChoice::Form::calls) return run_trace(common, options);
  return with_trace(common, options, Trace::Stream::none,
                    [&](Backend& backend, Trace& trace) -> int {
                      const auto ended = trace.run();
                      auto read = read_rows(common, backend, trace, options);
                      if (!read) return fail(read.error());
                      CallTree calls;
                      calls.add(read->paths.value_or(std::vector<PathPart>{}), read->rows);
                      print_sums(common, calls, options.graph->form, options.rows,
                                 read->dropped_keys + read->cut);
                      tell_missing(*read);
                      return status_of(ended, trace);
                    });
}

int run_record(const CommonOptions& common, const TraceOptions& options) {
  auto file = RecordedFile::open(*options.record);
  if (!file) return fail(file.error());
  return with_trace(
      common, options, Trace::Stream::none,
      [&](Backend& backend, Trace& trace) -> int {
        RecordingProgress progress(common, backend, trace.session());
        const auto ended = trace.run(
            {.go_on = [&] { return progress.look(); }, .every_ms = RecordingProgress::kEveryMs});
        if (!ended) progress.clear();
        if (auto off = trace.switch_off(); !off) return fail(off.error());
        if (auto flushed = backend.call(SessionFlush{trace.session()}); !flushed)
          return fail(flushed.error());
        auto recorded = progress.end();
        if (!recorded) return fail(recorded.error());
        show<RecordingPart>(common, *recorded, [&](const RecordingPart& part) {
          return recording_text(*options.record, part);
        });
        return status_of(ended, trace);
      },
      &*file);
}

int run_count(const CommonOptions& common, const TraceOptions& options) {
  return with_trace(common, options, Trace::Stream::none,
                    [&](Backend& backend, Trace& trace) -> int {
                      const auto ended = trace.run();
                      auto rows = read_rows(common, backend, trace, options);
                      if (!rows) return fail(rows.error());
                      show<ReadReply>(common, *rows, [&](const ReadReply& reply) {
                        if (options.folded) return folded_text(reply);
                        return first_rows_text(titled(reply, options.keys), options.rows);
                      });
                      return status_of(ended, trace);
                    });
}

}  // namespace tracectl
