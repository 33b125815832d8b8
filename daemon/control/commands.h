// SPDX-License-Identifier: BSD-2-Clause
//
// One function for each method, typed in and out. It decides what a request may do, for the socket
// server and for `tracectl --embedded`.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/control/examination.h"
#include "daemon/control/flight_recorders.h"
#include "daemon/control/parts.h"
#include "daemon/control/saved_sessions.h"
#include "daemon/protocol/messages.h"
#include "daemon/sessions/engine.h"
#include "daemon/stream/recorder.h"

namespace tracectl {

// The client of a connection, for as long as that lasts.
struct Peer {
  uid_t uid = 0;
  pid_t pid = 0;
  std::optional<Owner> owner = {};  // none: it may trace every process
  // Makes the sink that sends a session's events to this peer, in the form it asked for. Fails if its user
  // has no memory left for one.
  std::function<Result<std::shared_ptr<EventSink>>(const protocol::SessionSubscribe&)> make_sink;
  // Fails if the matches held by its user's unanswered requests are at their limit. Empty: there is no limit.
  std::function<Status()> check_matches = {};
  std::map<std::string, std::shared_ptr<EventSink>> subscriptions;  // by session
  std::set<std::string> unnamed_sessions;                           // end with the connection
  // Received, and not yet taken by a request; the oldest first.
  std::deque<Fd> descriptors;
};

// Takes the oldest `count` descriptors; fails if fewer came. `of` says in the error what files they should be.
Result<std::vector<Fd>> take_descriptors(Peer& peer, size_t count, const char* of);

struct ServerCounts {
  uint64_t clients = 0;
  uint64_t requests = 0;
  uint64_t refused_requests = 0;
  uint64_t client_drops = 0;
};

class Commands {
 public:
  // Without `unasked`, dumps are made only on request. `store` is borrowed; without it no session is saved.
  Commands(Engine& engine, const ServerCounts& counts,
           std::optional<FlightRecorders::Unasked> unasked = std::nullopt,
           DescriptorStore* store = nullptr);
  // Waits some seconds for recordings to be written.
  ~Commands();

  Result<protocol::HelloReply> handle(const protocol::Hello&, Peer&);
  Result<protocol::ProbeListReply> handle(const protocol::ProbeList&, Peer&);
  // The data of its answer, which can be long: reply_of() of parts.h makes the answer.
  Result<Resolution> list(const protocol::ProbeList& request, Peer& peer);
  Result<protocol::ProbeInfoReply> handle(const protocol::ProbeInfo&, Peer&);
  Result<ProbesInfo> info(const protocol::ProbeInfo& request,
                          const Peer& peer) const;  // the data of its answer
  Result<protocol::SessionPart> handle(const protocol::SessionCreate&, Peer&);
  Result<protocol::SessionListReply> handle(const protocol::SessionList&, Peer&);
  Result<protocol::SessionPart> handle(const protocol::SessionShow&, Peer&);
  Result<protocol::ProveReply> handle(const protocol::SessionProve&, Peer&);
  Result<protocol::BudgetReply> handle(const protocol::SessionBudget&, Peer&);
  Result<protocol::SwitchReply> handle(const protocol::SessionDelete&, Peer&);
  Result<protocol::StageReply> handle(const protocol::StageSet&, Peer&);
  Result<protocol::StageReply> handle(const protocol::StageRemove&, Peer&);
  Result<protocol::CommitReply> handle(const protocol::StageCommit&, Peer&);
  // Commits that are requested together share a switch if they can. The answers are in their order.
  struct CommitRequestOf {
    const protocol::StageCommit* request;
    const Peer* peer;
  };
  std::vector<Result<protocol::CommitReply>> commit(const std::vector<CommitRequestOf>& asked);
  Result<protocol::GrowReply> handle(const protocol::StageGrow&, Peer&);
  Result<protocol::Empty> handle(const protocol::StageAbort&, Peer&);
  Result<protocol::SwitchReply> handle(const protocol::SessionPause&, Peer&);
  Result<protocol::SwitchReply> handle(const protocol::SessionResume&, Peer&);
  Result<protocol::SwitchReply> handle(const protocol::SessionRestart&, Peer&);
  Result<protocol::ReadReply> handle(const protocol::SessionRead&, Peer&);
  Result<ReadResults> read(const protocol::SessionRead& request);  // the data of its answer
  Result<protocol::FlushReply> handle(const protocol::SessionFlush&, Peer&);
  Result<protocol::Empty> handle(const protocol::SessionSubscribe&, Peer&);
  Result<protocol::Empty> handle(const protocol::SessionUnsubscribe&, Peer&);
  Result<protocol::RecordingPart> handle(const protocol::RecordStart&, Peer&);
  Result<protocol::RecordingPart> handle(const protocol::RecordShow&, Peer&);
  Result<protocol::RecordingPart> handle(const protocol::RecordStop&, Peer&);
  Result<protocol::DumpPart> handle(const protocol::RecordDump&, Peer&);
  Result<protocol::DumpPart> handle(const protocol::RecordDumped&, Peer&);
  Result<protocol::StatusReply> handle(const protocol::DaemonStatus&, Peer&);
  Result<protocol::StatsReply> handle(const protocol::DaemonStats&, Peer&);
  Result<protocol::TopReply> handle(const protocol::DaemonTop&, Peer&);  // top.cpp
  Result<protocol::DoctorReply> handle(const protocol::DaemonDoctor&, Peer&);

  // To be called before a request that may need more memory, for a peer who may not trace every process.
  Status check_memory(const Peer& peer) const;

  // The answer to a request that std::bad_alloc ended. What it had allocated has been freed.
  static Error out_of_memory() {
    return Error{Code::exhausted, "there is not enough memory for this"};
  }

  // Leaves out probes that cost more than their session's budget: to be called at the engine's
  // next_budget_look_ns(), or more often.
  void keep_budgets();

  // Dumps every flight recorder to the folder.
  void dump_recorders(const std::string& reason) { flight_recorders_.dump_all(reason); }
  // Makes the dumps that the engine's notices ask for: to be called when its notices_fd() is readable.
  void take_notices();
  // Arms programs that were executed in cgroups that sessions follow, and files that were mapped. Also to be called
  // when files have been read, and at Following::next_ns().
  void follow_programs();
  void dump_failed(const UnitFailure& failure) { flight_recorders_.dump_failed(failure); }
  // To be called now and then after these, until it returns false.
  bool look_after_dumps() { return flight_recorders_.look_after(); }

  // Why the peer may not make requests about the session; none if it may. A peer that may trace every process
  // may, and so may the session's own user with all rights that it had when the session was made. Others
  // learn only that the session exists. None if there is no session of that name: the request itself then
  // fails with that.
  std::optional<Error> why_not(const Peer& peer, const std::string& session) const;

  // The saved sessions, in the form that the next daemon finds.
  SavedSessions& saved() { return saved_; }
  // To be called after anything that may have changed one of them.
  void save_sessions();
  // Like creating the session, for one that goes on in the engine.
  Status take_up(const protocol::SessionCreate& request, const Peer& peer);

  // To be called when the peer is gone: ends its subscriptions and its unnamed sessions.
  void leave(Peer& peer);

 private:
  protocol::SessionPart part_of(const Session& session) const;
  std::optional<protocol::SpecPart> explained(const Setting& setting, const Access& access);
  // A session's recording. `user`: whose quota it counts for, if any.
  struct Recording {
    std::shared_ptr<Recorder> recorder;
    std::optional<uid_t> user;
  };
  Status check_patterns(size_t patterns, const Peer& peer) const;
  Status may_match(size_t patterns, const Peer& peer) const;
  Status check_memory_of_recording(const Peer& peer) const;
  Result<std::shared_ptr<Recorder>> recording(const std::string& session) const;
  Status check_saved(const protocol::SessionCreate& request) const;
  Status give_file(const Session& session, Fd file, const std::string& path);
  void end_recording(const std::string& session);

  Engine& engine_;
  const ServerCounts& counts_;
  uint64_t started_ns_;
  // By session. A recording that has ended stays until its session ends or is recorded again.
  std::map<std::string, Recording> recordings_;
  std::vector<Recording> ending_;  // still being written; their sessions are gone
  FlightRecorders flight_recorders_;
  SavedSessions saved_;
  Examination examination_;
};

}  // namespace tracectl
