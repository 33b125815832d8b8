// SPDX-License-Identifier: BSD-2-Clause
//
// The engine: sessions, their drafts, commits and results. Used by one thread at a time (the
// control thread): that is the one writer's lock. Events arrive on the reader's thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/events/reader.h"
#include "daemon/kernel/kernel.h"
#include "daemon/model/quota.h"
#include "daemon/process/replaced_files.h"
#include "daemon/trace/adoption.h"
#include "daemon/trace/cgroup_rows.h"
#include "daemon/trace/commit.h"
#include "daemon/trace/coverage.h"
#include "daemon/trace/hooks.h"
#include "daemon/trace/info.h"
#include "daemon/trace/keeper.h"
#include "daemon/trace/notices.h"
#include "daemon/trace/probe_totals.h"
#include "daemon/trace/resolver.h"
#include "daemon/trace/session.h"
#include "daemon/trace/slots.h"
#include "daemon/trace/stack_rows.h"
#include "daemon/trace/switch.h"

namespace tracectl {

struct EngineOptions {
  size_t ring_bytes =
      default_ring_bytes(possible_cpus());  // of each CPU and session; a power of two
  // How long a site that nobody wants any more stays armed, so that a session that comes to want it
  // again needs the switch only. Not those with a semaphore.
  uint64_t linger_ns = 0;
  // Of the daemon's own: at it, users get nothing new.
  size_t memory_bytes = size_t{3} << 30;
  Quota quota = {};  // of each user who may not trace every process
  // Somebody takes notices and calls follow(): what processes map later can be awaited.
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
  bool if_changed = false;  // there is no switch where what is in force covers the same
};

struct CommitSummary {
  uint64_t epoch = 0;
  size_t probes = 0, sites = 0;
  size_t added = 0, updated = 0, removed = 0;
  size_t lingering = 0;  // of all sites: armed, and no session wants them
  std::vector<Refusal> refused;
  std::vector<std::string> notes;
  SwitchFigures figures;
};

struct GrowSummary {
  uint64_t epoch = 0;              // in force
  std::vector<std::string> added;  // functions, by the names of their probes
  std::vector<Refusal> refused;    // each told once
  size_t unknown = 0;  // addresses called since the last time that begin no known function
};

// What a session has followed programs into.
struct FollowSummary {
  std::string session;
  std::vector<Followed> files;
  Status done;  // or why what was executed could not be armed
};

// What a look at a session's budget led to.
struct BudgetKept {
  std::string session;
  std::vector<LeftOut> left_out;
  Status done;  // or why what costs too much could not be left out
};

// A saved session of a former daemon, as it was there.
struct Returning {
  std::string name;
  std::vector<Setting> settings;
  std::optional<double> budget;
  std::optional<Owner> owner;
  uint64_t last_ns = 0;  // since boot: when that daemon is known to have been there
};

struct CommitRequest {
  std::string session;
  CommitOptions options;
};

// A switch of whole sessions.
struct SwitchSummary {
  uint64_t epoch = 0;
  size_t sessions = 0, sites = 0;  // that it changed; none: there was no switch
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
  // `reading`: who reads files; none: this process.
  static Result<std::unique_ptr<Engine>> start(std::unique_ptr<Kernel> kernel,
                                               const EngineOptions& options,
                                               std::unique_ptr<Reading> reading = nullptr,
                                               DescriptorStore* store = nullptr);
  ~Engine();

  // ---- saved sessions, over a restart of the daemon: engine_go_on.cpp ----
  // Those that a former daemon has had go on with what they had in force, all by one switch: of their hits none is
  // missed or counted twice. What else it had armed is disarmed. Once, before anything else is asked. The answers
  // are in the order of the sessions; Code::not_found where nothing but the settings is left.
  std::vector<Status> go_on(std::vector<Returning> sessions);
  // Everything read from rings has gone to the sinks when it returns, and nothing is read any more.
  void end_reading() { reader_->end(); }
  // Behind that: events that did not get to a subscriber of the session. Who subscribes to it next is told, where it
  // is a saved one.
  void note_unsent(const std::string& session, uint64_t events);

  // A request begins, or is made again with what it has learnt before. Where it fails and
  // reading().awaited() tells of a file it has changed nothing, and is to be made again.
  void begin(std::shared_ptr<Learned> learned) { resolver_.begin(std::move(learned)); }
  // By which what the kernel takes long for is done. What is done meanwhile must change nothing of the engine.
  LongWork& long_work() { return kernel_->long_work(); }
  // As Resolver has these: list() and stage_set() can be done in slices.
  void begin_slice() { resolver_.begin_slice(); }
  bool end_slice() { return resolver_.end_slice(); }
  // Of sites, by what was resolved for the request last.
  size_t matches() const { return resolver_.matches(); }
  Reading& reading() { return *reading_; }

  Result<Resolution> list(const std::vector<Pattern>& patterns, const Target& target,
                          const Access& access, std::optional<Returns> returns = std::nullopt);
  // What is set on armed probes whose names fit the pattern.
  std::vector<ProbeSettingInfo> info(
      const Pattern& pattern, const std::function<bool(const std::string& session)>& of =
                                  [](const auto&) { return true; }) const;

  // `name` empty: an unnamed session gets one of its own. `budget`: what its hits may cost, in percent of
  // one CPU; none: whatever they do. `owner`: who may see what it sees; none: it sees every process.
  // `saved`: the next engine is to go on with it. Where there is a store it does so without a gap.
  Result<const Session*> create_session(const std::string& name,
                                        std::optional<double> budget = std::nullopt,
                                        const std::optional<Owner>& owner = std::nullopt,
                                        bool saved = false);
  // Files in which the session may look for probes, and trace them.
  Status give_file(const std::string& session, Fd fd, const std::string& path);
  // Which of these descriptors, that a client has sent, prove that it may see a process: as Kernel::prove().
  Result<std::vector<ProvenMemory>> prove(std::span<const int> descriptors) {
    return kernel_->prove(descriptors, std::nullopt);
  }
  // To the session, which shows hits of these processes and their forks from now on. engine_proofs.cpp.
  struct Proven {
    bool needed = false;  // the session has an owner
    std::vector<pid_t> processes;
    Kernel::Unproven unproven;
    std::vector<pid_t> wanted;  // seen, and left out, since the last time
  };
  Result<Proven> prove(std::span<const int> descriptors, const std::string& session);
  Kernel::Unproven unproven(const Session& session) const { return kernel_->unproven(session.id); }
  Result<const Session*> session(const std::string& name) const;
  std::vector<const Session*> sessions() const;
  // Removes all its settings, and its results.
  Result<SwitchSummary> delete_session(const std::string& name);

  // Resolves as the commit will, so that the answer says what the draft covers. A target with births is for the
  // processes of these alone: those that have ended are passed over.
  Result<StageSummary> stage_set(const std::string& session, std::vector<Setting> settings);
  Result<StageSummary> stage_remove(const std::string& session,
                                    const std::vector<Pattern>& patterns,
                                    const std::optional<Target>& target);
  Status stage_abort(const std::string& session);
  Result<CommitSummary> commit(const std::string& session, const CommitOptions& options);
  // Adds to the session's graphs that grow what they have been seen to call by computed addresses, and
  // what is reached from there, by a commit. None where there is nothing new. Fails with Code::busy
  // where the session has a draft. engine_grow.cpp.
  Result<GrowSummary> grow(const std::string& session);
  // All of them by one switch; where one of them fails, or asks for something special, one after
  // another. The answers are in the order of the requests.
  std::vector<Result<CommitSummary>> commit_together(const std::vector<CommitRequest>& requests);

  // Of one session, or of all by one switch. A paused session keeps its counters and its sites
  // armed; what it commits meanwhile is armed and silent. One that a setting triggers has a gate: it is
  // closed or opened right before the switch, and until the next trigger.
  // `of`: all means this owner's; none: everybody's.
  Result<SwitchSummary> pause(const std::optional<std::string>& session,
                              const std::optional<Owner>& of = std::nullopt);
  Result<SwitchSummary> resume(const std::optional<std::string>& session,
                               const std::optional<Owner>& of = std::nullopt);
  bool is_paused(const Session& session) const;
  // Of sessions with a setting in force that triggers this one.
  std::vector<std::string> triggered_by(const Session& session) const;
  // All counters of the session are zero, no thread is marked, and it is not paused.
  Result<SwitchSummary> restart(const std::string& session);

  // Since boot; when end_lingering() is wanted. 0: nothing lingers.
  uint64_t next_linger_end_ns() const { return next_linger_end_ns_; }
  // Disarms what has lingered long enough.
  Status end_lingering();

  // Since boot; when keep_budgets() is wanted. 0: no session has a budget and anything armed.
  uint64_t next_budget_look_ns() const;
  // Looks at what has been hit since the last time, in sessions whose time it is, and takes by a switch
  // out of a session what costs more than its budget. Tells of those where there was something to do.
  // engine_budget.cpp.
  std::vector<BudgetKept> keep_budgets();

  // `clear`: read and zero in one cut, by a small commit.
  Result<ReadSummary> read(const std::string& session, bool clear);
  Totals totals(const Session& session) const;
  std::vector<ProbeTotals> probe_totals(const Session& session) const {
    return tracectl::probe_totals(*kernel_, session);
  }
  // Threads that it could not mark for want of memory.
  uint64_t marks_lost(const Session& session) const { return kernel_->marks_lost(session.id); }
  Result<uint64_t> flush(const std::string& session);
  // EventReader has these, by the session's number.
  Result<uint64_t> ask_flush(const std::string& session);
  Result<bool> is_flushed(const std::string& session, uint64_t asked_ns) const;
  int flushed_fd() const { return reader_->flushed_fd(); }
  Status subscribe(const std::string& session, std::shared_ptr<EventSink> sink);
  void unsubscribe(const std::string& session, const EventSink* sink);

  // A hit that triggers this session, which has just been made, asks for a dump: take_notices() tells.
  // No hit behind it does until listen_for_dumps().
  void dump_at_triggers(const std::string& session);
  void listen_for_dumps(const std::string& session);
  void watch_crashes(bool watch) { kernel_->watch_crashes(watch); }
  // Readable when there are some. The engine's own.
  int notices_fd() const { return kernel_->notices_fd(); }
  // Those of sessions that are still there, and of processes that one that is dumped has chosen.
  std::vector<Notice> take_notices();

  // Readable when another file may have been put at a path that a session has chosen, or -1. The engine's
  // own. To be taken by take_replaced().
  int replaced_fd() const { return replaced_.fd(); }
  void take_replaced();
  // Since boot; when follow() is wanted, beside the notices. 0: nothing is to be looked at.
  uint64_t next_follow_ns() const;
  // Arms, by commits, what processes that sessions have chosen have mapped, as take_notices() has seen; what
  // take_notices() has seen to be executed in cgroups that sessions follow; and what
  // take_replaced() has seen to be put in place. Of each session for which there was something to do. Where reading().awaited() tells of a file it is to be
  // called again when that is read. engine_follow.cpp.
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

  // What a commit of one session is to bring about.
  struct Intent {
    Session* session = nullptr;
    std::vector<Setting> settings;
    Coverage coverage;
    CommitOptions options;
    std::shared_ptr<Coverage> kept = {};  // room for it, where the session is saved
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
  // The answers to commits that are about to take force: behind the switch there is no asking for
  // memory. settle() adds what is known only then.
  std::vector<CommitSummary> expected(std::span<const Intent> intents,
                                      const std::vector<Changes>& changes) const;
  void settle(Intent& intent, uint64_t epoch, const SwitchFigures& figures, CommitSummary& summary);

  // Graphs that grow: engine_grow.cpp.
  Result<GrowSummary> grow_by_what_was_called(Session& session);
  Result<GrowSummary> grow_by(Session& session, const CalledAddresses& called);
  Status add_callees(Session& session, std::vector<Pattern> callees, GrowSummary& summary);
  Result<CommitSummary> commit_as_draft(Session& session, std::vector<Setting> settings,
                                        bool if_changed = false);

  // What comes later: engine_follow.cpp.
  void note_exec(const tc_notice& notice);
  void note_mapped(const tc_notice& notice);
  void note_joined(const tc_notice& notice);

  // What users may see: engine_proofs.cpp.
  Access access_of(const Session& session, const std::optional<Owner>& owner);
  void note_unproven(const tc_notice& notice);
  Status await_libraries(Intent& intent);
  void take_awaited(Intent& intent);
  void watch_what_is_chosen(Session& session);
  static bool more_may_come(const Session& session);
  bool is_due(const Session& session, uint64_t now_ns) const;
  std::optional<FollowSummary> follow(Session& session);

  // Quotas: engine_quotas.cpp. What an owner's sessions have together, and would have.
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
  // As Switch::build(), and what outlives the daemon is in the store.
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
    std::vector<SlotWants> ended;  // of processes that are no more
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
  std::unique_ptr<Keeper> keeper_;  // where there is a store
  std::set<uint32_t> kept_links_;   // of the state that it was given last
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
