// SPDX-License-Identifier: BSD-2-Clause
//
// The engine: sessions, their drafts, commits and results. Only one thread at a time may use it (the
// control thread), which serves as the writer's lock. Events arrive on the reader's thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/finding/coverage.h"
#include "daemon/finding/resolver.h"
#include "daemon/kernel/kernel.h"
#include "daemon/model/quota.h"
#include "daemon/process/replaced_files.h"
#include "daemon/saved/adoption.h"
#include "daemon/saved/keeper.h"
#include "daemon/sessions/cgroup_rows.h"
#include "daemon/sessions/info.h"
#include "daemon/sessions/notices.h"
#include "daemon/sessions/probe_totals.h"
#include "daemon/sessions/stack_rows.h"
#include "daemon/stream/reader.h"
#include "daemon/switching/commit.h"
#include "daemon/switching/hooks.h"
#include "daemon/switching/session.h"
#include "daemon/switching/slots.h"
#include "daemon/switching/switch.h"

namespace tracectl {

struct EngineOptions {
  size_t ring_bytes =
      default_ring_bytes(possible_cpus());  // of each CPU and session; a power of two
  // How long a site stays armed after its last session has dropped it, so that a session that wants it
  // again needs only the switch. Sites with a semaphore do not linger.
  uint64_t linger_ns = 0;
  // The bound of the daemon's own memory. Beyond it, users get nothing new.
  size_t memory_bytes = size_t{3} << 30;
  Quota quota = {};  // of each user who may not trace every process
  // The caller takes notices and calls follow(), so sessions can wait for files that processes map later.
  bool awaits_libraries = false;
  bool for_one_command = false;  // as in KernelOptions, and with it
};

struct StageSummary {
  size_t settings = 0, probes = 0, sites = 0;
  std::vector<Refusal> refused;
  std::vector<std::string> notes;
};

struct CommitOptions {
  bool partial = false;  // leave refused sites out instead of failing
  bool dry_run = false;
  bool if_changed = false;  // no switch if the settings in force cover the same
};

struct CommitSummary {
  uint64_t epoch = 0;
  size_t probes = 0, sites = 0;
  size_t added = 0, updated = 0, removed = 0;
  size_t lingering = 0;  // sites that are armed and that no session wants
  std::vector<Refusal> refused;
  std::vector<std::string> notes;
  SwitchFigures figures;
};

struct GrowSummary {
  uint64_t epoch = 0;              // in force
  std::vector<std::string> added;  // functions, by the names of their probes
  std::vector<Refusal> refused;    // each reported once
  size_t unknown = 0;  // addresses that were called since the last time and begin no known function
};

// The files into which a session has followed programs.
struct FollowSummary {
  std::string session;
  std::vector<Followed> files;
  Status done;  // or why the executed files could not be armed
};

// The result of checking a session's budget.
struct BudgetKept {
  std::string session;
  std::vector<LeftOut> left_out;
  Status done;  // or why settings that cost too much could not be left out
};

// A saved session, as a former daemon had it.
struct Returning {
  std::string name;
  std::vector<Setting> settings;
  std::optional<double> budget;
  std::optional<Owner> owner;
  uint64_t last_ns = 0;  // since boot: the last time that daemon is known to have run
};

struct CommitRequest {
  std::string session;
  CommitOptions options;
};

// A switch of whole sessions.
struct SwitchSummary {
  uint64_t epoch = 0;
  size_t sessions = 0, sites = 0;  // that it changed; 0 if there was no switch
  SwitchFigures figures;
};

struct ReadSummary {
  Results results;
  uint64_t epoch = 0;                    // in force when it was read
  std::optional<SwitchFigures> figures;  // of the switch that zeroed what was read
};

struct EngineStats {
  uint64_t commits = 0, failed_commits = 0, switches = 0;
};

class Engine {
 public:
  // `reading` reads files; without one this process does.
  static Result<std::unique_ptr<Engine>> start(std::unique_ptr<Kernel> kernel,
                                               const EngineOptions& options,
                                               std::unique_ptr<Reading> reading = nullptr,
                                               DescriptorStore* store = nullptr);
  ~Engine();

  // ---- saved sessions, across a restart of the daemon: engine_go_on.cpp ----
  // Resumes the saved sessions of a former daemon with the settings that were in force, all by one switch: no hit is
  // missed or counted twice. Disarms all else that it had armed. Call it once, before anything else. The answers are in
  // the order of the sessions; Code::not_found for a session of which only the settings are left.
  std::vector<Status> go_on(std::vector<Returning> sessions);
  // Stops reading rings. When it returns, the sinks have everything that was read.
  void end_reading() { reader_->end(); }
  // Call it after that: notes events that did not reach a subscriber of the session. If the session is saved, its next
  // subscriber is informed.
  void note_unsent(const std::string& session, uint64_t events);

  // Begins a request, or repeats it with what it has learned before. A request that fails while
  // reading().awaited() has a file has changed nothing, and must be repeated.
  void begin(std::shared_ptr<Learned> learned) { resolver_.begin(std::move(learned)); }
  // Runs operations for which the kernel takes long. Code that runs meanwhile must not change the engine.
  LongWork& long_work() { return kernel_->long_work(); }
  // list() and stage_set() can be done in slices; as in Resolver.
  void begin_slice() { resolver_.begin_slice(); }
  bool end_slice() { return resolver_.end_slice(); }
  // The number of sites that the last request has matched.
  size_t matches() const { return resolver_.matches(); }
  Reading& reading() { return *reading_; }

  Result<Resolution> list(const std::vector<Pattern>& patterns, const Target& target,
                          const Access& access, std::optional<Returns> returns = std::nullopt);
  // The settings of armed probes whose names match the pattern.
  std::vector<ProbeSettingInfo> info(
      const Pattern& pattern, const std::function<bool(const std::string& session)>& of =
                                  [](const auto&) { return true; }) const;

  // An empty `name` gives the session a name of its own. `budget` is what its hits may cost, in percent of one
  // CPU; none: no bound. `owner` is the user whose processes it may see; none: it sees every process. The next
  // engine resumes a `saved` session, without a gap if there is a store.
  Result<const Session*> create_session(const std::string& name,
                                        std::optional<double> budget = std::nullopt,
                                        const std::optional<Owner>& owner = std::nullopt,
                                        bool saved = false);
  // Gives the session a file in which it may look for probes, and trace them.
  Status give_file(const std::string& session, Fd fd, const std::string& path);
  // Returns which of these descriptors of a client prove that it may see a process; as Kernel::prove().
  Result<std::vector<ProvenMemory>> prove(std::span<const int> descriptors) {
    return kernel_->prove(descriptors, std::nullopt);
  }
  // Proves processes to the session, which shows their hits from now on, and those of their forks.
  // engine_proofs.cpp.
  struct Proven {
    bool needed = false;  // the session has an owner
    std::vector<pid_t> processes;
    Kernel::Unproven unproven;
    std::vector<pid_t> wanted;  // processes that hit a probe and were left out since the last time
  };
  Result<Proven> prove(std::span<const int> descriptors, const std::string& session);
  Kernel::Unproven unproven(const Session& session) const { return kernel_->unproven(session.id); }
  Result<const Session*> session(const std::string& name) const;
  std::vector<const Session*> sessions() const;
  // Removes all settings of the session, and its results.
  Result<SwitchSummary> delete_session(const std::string& name);

  // Resolves as the commit will, so that the answer says what the draft covers. A target with births of processes
  // means only processes born then: those that have ended are left out.
  Result<StageSummary> stage_set(const std::string& session, std::vector<Setting> settings);
  Result<StageSummary> stage_remove(const std::string& session,
                                    const std::vector<Pattern>& patterns,
                                    const std::optional<Target>& target);
  Status stage_abort(const std::string& session);
  Result<CommitSummary> commit(const std::string& session, const CommitOptions& options);
  // Adds functions to the session's growing graphs: those that were called by computed addresses, and those
  // reached from there. Makes a commit, or none if there is nothing new. Fails with Code::busy if the session
  // has a draft. engine_grow.cpp.
  Result<GrowSummary> grow(const std::string& session);
  // Commits all of them by one switch; one after another if one fails, or asks for something special. The
  // answers are in the order of the requests.
  std::vector<Result<CommitSummary>> commit_together(const std::vector<CommitRequest>& requests);

  // Pauses or resumes one session, or all by one switch. A paused session keeps its counters and its armed
  // sites; settings that it commits meanwhile are armed and silent. A session that a setting triggers has a gate,
  // which is closed or opened right before the switch, and stays so until the next trigger. Without `session`, it
  // is for all sessions of the owner `of`, or of everybody without `of`.
  Result<SwitchSummary> pause(const std::optional<std::string>& session,
                              const std::optional<Owner>& of = std::nullopt);
  Result<SwitchSummary> resume(const std::optional<std::string>& session,
                               const std::optional<Owner>& of = std::nullopt);
  bool is_paused(const Session& session) const;
  // The names of sessions with a setting in force that triggers this one.
  std::vector<std::string> triggered_by(const Session& session) const;
  // Sets all counters of the session to zero, unmarks all threads, and resumes it.
  Result<SwitchSummary> restart(const std::string& session);

  // When to call end_lingering(), since boot. 0 if nothing lingers.
  uint64_t next_linger_end_ns() const { return next_linger_end_ns_; }
  // Disarms the sites that have lingered long enough.
  Status end_lingering();

  // When to call keep_budgets(), since boot. 0 if no session has both a budget and armed sites.
  uint64_t next_budget_look_ns() const;
  // Checks the hits since the last time in sessions that are due, and by a switch removes the probes of a session
  // that cost more than its budget. Returns the sessions where there was something to do. engine_budget.cpp.
  std::vector<BudgetKept> keep_budgets();

  // `clear`: reads and zeroes at the same moment, by a small commit.
  Result<ReadSummary> read(const std::string& session, bool clear);
  Totals totals(const Session& session) const;
  std::vector<ProbeTotals> probe_totals(const Session& session) const {
    return tracectl::probe_totals(*kernel_, session);
  }
  // Threads that could not be marked because memory was short.
  uint64_t marks_lost(const Session& session) const { return kernel_->marks_lost(session.id); }
  Result<uint64_t> flush(const std::string& session);
  // As in EventReader, for the session's number.
  Result<uint64_t> ask_flush(const std::string& session);
  Result<bool> is_flushed(const std::string& session, uint64_t asked_ns) const;
  int flushed_fd() const { return reader_->flushed_fd(); }
  Status subscribe(const std::string& session, Subscriber subscriber);
  void unsubscribe(const std::string& session, const EventSink* sink);

  // The next hit that triggers this session, which has just been made, asks for a dump by a notice. Later hits
  // do not, until listen_for_dumps().
  void dump_at_triggers(const std::string& session);
  void listen_for_dumps(const std::string& session);
  void watch_crashes(bool watch) { kernel_->watch_crashes(watch); }
  // Readable when there are notices. Borrowed.
  int notices_fd() const { return kernel_->notices_fd(); }
  // Returns the notices of sessions that still exist, and of crashed processes that sessions with dumps have chosen.
  std::vector<Notice> take_notices();

  // Readable when another file may have been put at a path that a session has chosen, or -1. Borrowed. Call
  // take_replaced() then.
  int replaced_fd() const { return replaced_.fd(); }
  void take_replaced();
  // When to call follow() even without notices, since boot. 0 if there is nothing to look at.
  uint64_t next_follow_ns() const;
  // Arms, by commits: files that processes chosen by sessions have mapped, and files executed in cgroups that sessions
  // follow, both as take_notices() has seen; and files that were replaced, as take_replaced() has seen. Returns the
  // sessions where there was something to do. If reading().awaited() has a file, call it again when that is read.
  // engine_follow.cpp.
  std::vector<FollowSummary> follow();

  uint64_t epoch() const { return kernel_->epoch(); }
  const Slots& slots() const { return slots_; }
  const EngineStats& stats() const { return stats_; }
  ReaderStats reader_stats() const { return reader_->stats(); }
  const EngineOptions& options() const { return options_; }
  size_t rings_open() const;

 private:
  Engine(std::unique_ptr<Kernel> kernel, std::unique_ptr<Symbolizer> symbolizer,
         std::unique_ptr<EventReader> reader, std::unique_ptr<Reading> reading,
         const EngineOptions& options);
  Result<Session*> find(const std::string& name);
  const Session* session_of(uint32_t id) const;
  static Status check_specs(const Coverage& coverage);
  void show_kept_breakpoints(Resolution& resolution) const;
  Status ensure_rings(Session& session, const Coverage& coverage);
  Status open_rings(Session& session);

  // The changes that a commit of one session is to make.
  struct Intent {
    Session* session = nullptr;
    std::vector<Setting> settings;
    Coverage coverage;
    CommitOptions options;
    std::shared_ptr<Coverage> kept = {};  // room for it, if the session is saved
    std::vector<FollowedFile> followed = {};
    std::vector<FollowedLibrary> libraries = {};
    std::vector<LinkerPtr> linkers = {};
    uint64_t began_ns = 0;
  };
  Result<Intent> intend(const std::string& session, const CommitOptions& options);
  Status hear_of_programs(Session& session, const std::vector<Setting>& settings);
  Status cover_for(Intent& intent);
  Result<CommitSummary> dry_run(Intent intent);
  Result<CommitSummary> apply_leaving_out(Intent intent);
  Result<std::vector<CommitSummary>> apply(std::span<Intent> intents, Switch& change);
  std::optional<std::vector<CommitSummary>> try_together(
      const std::vector<CommitRequest>& requests);
  // Makes the answers to commits before the switch, because after it no memory may be needed. settle() adds the
  // values that are known only then.
  std::vector<CommitSummary> expected(std::span<const Intent> intents,
                                      const std::vector<Changes>& changes) const;
  void settle(Intent& intent, uint64_t epoch, const SwitchFigures& figures, CommitSummary& summary);

  // Graphs that grow: engine_grow.cpp.
  Result<GrowSummary> grow_by_what_was_called(Session& session);
  Result<GrowSummary> grow_by(Session& session, const CalledAddresses& called);
  Status add_callees(Session& session, std::vector<Pattern> callees, GrowSummary& summary);
  Result<CommitSummary> commit_as_draft(Session& session, std::vector<Setting> settings,
                                        bool if_changed = false);

  // Files and processes that come later: engine_follow.cpp.
  void note_exec(const tc_notice& notice);
  void note_mapped(const tc_notice& notice);
  void note_joined(const tc_notice& notice);

  // The processes that users may see: engine_proofs.cpp.
  Access access_of(const Session& session, const std::optional<Owner>& owner);
  void note_unproven(const tc_notice& notice);
  Status await_libraries(Intent& intent);
  void take_awaited(Intent& intent);
  void watch_what_is_chosen(Session& session);
  static bool more_may_come(const Session& session);
  bool is_due(const Session& session, uint64_t now_ns) const;
  std::optional<FollowSummary> follow(Session& session);

  // Quotas: engine_quotas.cpp. The sums over an owner's sessions, with and without a change.
  template <class Count> size_t sum_of_user(uid_t user, const Session* but, Count count) const;
  MemoryWanted rings_wanted(const Session& session) const;
  Status check_sessions(const std::optional<Owner>& owner) const;
  Status check_settings(const Session& session, size_t settings) const;
  Status check_sites(std::span<const Intent> intents) const;
  Status check_rings(const Session& session) const;
  void share_out();
  Result<uint32_t> take_account(const std::optional<Owner>& owner);
  void give_back_account(uint32_t account);

  Status check_kept(const Switch& change);
  Status check_kept_file(const Session& session);
  size_t kept_of_user(uid_t user, const Switch* change);
  // Budgets: engine_budget.cpp.
  Result<Coverage> cover_within_budget(const Session& session,
                                       const std::vector<Setting>& settings);
  std::optional<BudgetKept> keep_budget(Session& session, uint64_t now_ns);
  Status do_without(Session& session, std::vector<LeftOut>& dear);

  // Triggers: engine_gates.cpp.
  Result<std::map<std::string, Triggered>> triggers_of(const Session& session,
                                                       const std::vector<Setting>& settings) const;
  Status name_triggers(std::span<Intent> intents) const;
  bool is_triggered(const Session& session, std::span<const Intent> intents) const;
  void give_gate(Commit& commit, const Session& session, bool gated);
  Status plan_gates(std::span<const Intent> intents, Switch& change);

  Result<std::vector<Session*>> chosen(const std::optional<std::string>& session,
                                       const std::optional<Owner>& of);
  Result<SwitchSummary> set_paused(const std::optional<std::string>& session,
                                   const std::optional<Owner>& of, bool paused);
  Result<ReadSummary> read_so_far(const Session& session);
  Result<ReadSummary> read_and_clear(Session& session);
  uint64_t linger_until() const;
  // As Switch::build(). Also puts into the store the state that outlives the daemon.
  Status build(Switch& change);
  uint64_t activate(Switch& change);

  // engine_keep.cpp
  Status keep(const Switch* change);
  void keep_past();

  // engine_go_on.cpp
  void adopt(DescriptorStore& store);
  struct Adopted {
    Session* session = nullptr;
    std::shared_ptr<Coverage> coverage;
    std::vector<SlotWants> ended;  // of processes that have ended
  };
  Result<Adopted> adopt_session(Returning returning);
  void drop_those_that_trigger_none(std::vector<Adopted>& adopted, std::vector<size_t>& places,
                                    std::vector<Status>& answers);
  static Status take_up_settings(Session& session, const SessionState& state);
  Status cover_again(const Session& session, const SessionState& state, Coverage& coverage,
                     std::vector<SlotWants>& ended) const;
  Status switch_to(std::vector<Adopted>& adopted, std::vector<uint32_t>& dropped_stats);
  void drop_foreign(Switch& change, const std::vector<Adopted>& adopted,
                    std::vector<uint32_t>& dropped_stats);
  void settle(Adopted& adopted);
  void forget_session(Session& session);
  void end_adoption(const std::vector<uint32_t>& dropped_stats);
  void retire_ended(Session& session, const Want& want);
  Status adopt_rings(Session& session);

  EngineOptions options_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Symbolizer> symbolizer_;
  std::unique_ptr<EventReader> reader_;  // ends before the kernel it reads from
  std::unique_ptr<Reading> reading_;
  Resolver resolver_;
  Slots slots_;
  Hooks hooks_;
  Linkers linkers_;
  std::unique_ptr<Keeper> keeper_;  // null without a store
  std::set<uint32_t> kept_links_;   // of the last state in the store
  std::optional<Adoption> adoption_;
  CgroupNames cgroup_names_;
  ReplacedFiles replaced_;
  IdPool session_ids_{0, TC_MAX_SESSIONS};
  IdPool account_ids_{1, TC_MAX_ACCOUNTS};
  std::map<std::string, Session> sessions_;
  uint64_t unnamed_made_ = 0;
  uint64_t next_linger_end_ns_ = 0;
  EngineStats stats_;
};

}  // namespace tracectl
