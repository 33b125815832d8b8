// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "client/connection/backend.h"
#include "client/connection/budget.h"
#include "client/connection/event_printer.h"
#include "client/connection/growth.h"
#include "client/connection/proofs.h"
#include "client/connection/wait.h"
#include "client/recording/recorded_file.h"
#include "client/target/debug_files.h"
#include "client/target/named_debug_files.h"
#include "client/target/target.h"
#include "client/verbs/joining.h"
#include "client/verbs/trace_options.h"
#include "daemon/process/process.h"

namespace tracectl {

// An unnamed session that is staged, committed, followed while it runs, and deleted at the end.
class LiveTrace {
 public:
  // `file` may be null.
  LiveTrace(const CommonOptions& common, const TraceOptions& options, Backend& backend,
            ChosenTarget target, Waiter waiter, RecordedFile* file)
      : common_(common),
        options_(options),
        backend_(backend),
        target_(std::move(target)),
        waiter_(std::move(waiter)),
        file_(file) {}

  // Everything up to the commit. No code of a target runs before its probes are armed.
  enum class Stream { none, plain, described };
  Status begin(Stream stream);
  const protocol::CommitReply& committed() const { return committed_; }
  const std::string& session() const { return session_; }
  // How the keys of rows are shown.
  const std::vector<KeyView>& keys() const { return settings_->keys; }

  // Handles what arrives while the trace runs.
  struct Follower {
    std::function<Result<bool>()> go_on = [] { return Result<bool>(true); };  // false: ends it
    bool takes_events = false;  // called whenever events have arrived,
    bool prints_json = false;
    int every_ms = -1;  // and after this time without events, unless negative
  };
  Result<Ended> run(const Follower& follower);
  Result<Ended> run(EventPrinter& printer);
  Result<Ended> run() { return run(Follower{}); }

  // Disarms all probes; the results can still be read.
  Status switch_off();
  // The rows, with names of code and of keys.
  Result<protocol::ReadReply> read();
  // Reports why it has ended, unless successfully, and what ran before it was armed; returns the exit status. Of a command that has been started it
  // is the command's own, even if tracing has failed.
  int status_of(const Result<Ended>& ended);
  // Reports the error; returns the exit status.
  int failed(const Error& error);
  // As status_of(), if nothing was armed: that is no result.
  int status_without(const Result<Ended>& ended, const Error& nothing);
  // Why nothing has been armed so far; none if something was, or if that cannot be asked. Before switch_off().
  std::optional<Error> why_nothing();

 private:
  Status release(Command& command);
  Result<bool> go_on(const Follower& follower);
  int interval_ms(const Follower& follower) const;
  Status stage(const TraceOptions& setting);
  Result<protocol::StageReply> stage_for(const TraceOptions& setting,
                                         const protocol::TargetPart& target);
  Status add_cgroup(const std::string& cgroup);
  Status commit_for(const protocol::TargetPart& target);
  Result<protocol::StageReply> stage_ahead(protocol::StageSet& request);
  Result<protocol::StageReply> send(protocol::StageSet& request);
  Status choose_variant();
  Status stage_all();
  bool others_can_come() const;
  Status hold_targets();
  Status stage_each(const TraceOptions& setting);
  bool report_unseen();
  int status_of_end(const Result<Ended>& ended);
  int status_of_command();
  Status end_command();

  const CommonOptions& common_;
  const TraceOptions& options_;
  const TraceOptions* settings_ = &options_;  // or those of the variant that fits the target
  Backend& backend_;
  ChosenTarget target_;
  Waiter waiter_;
  RecordedFile* file_;
  NamedDebugFiles debug_files_;
  std::vector<Process> processes_;
  std::string session_;
  std::vector<const TraceOptions*> staged_;
  std::list<TraceOptions> one_by_one_;  // with a single pattern each
  bool has_released_ = false;           // the command runs, or has ended
  uint64_t sites_staged_ = 0;
  std::string awaited_;  // the first note that explains why nothing is covered
  protocol::CommitReply committed_;
  std::optional<Growth> growth_;
  std::optional<Joining> joining_;
  std::optional<BudgetWatch> budget_;
  std::optional<Proofs> proofs_;  // set once there is a session
  std::optional<DebugFiles> names_;
};

// Begins a trace and runs `body` with it, unless the trace is only a dry run; returns the exit status.
int with_trace(const CommonOptions& common, const TraceOptions& options, LiveTrace::Stream stream,
               const std::function<int(Backend&, LiveTrace&)>& body, RecordedFile* file = nullptr);

}  // namespace tracectl
