// SPDX-License-Identifier: BSD-2-Clause
//
// One function a method, typed in and out. What a request may do is decided here; the socket
// server and `tracectl --embedded` both end up here.
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
#include "daemon/control/kept_sessions.h"
#include "daemon/control/parts.h"
#include "daemon/protocol/messages.h"
#include "daemon/sessions/engine.h"
#include "daemon/stream/recorder.h"

namespace tracectl {

// Who asks, for as long as the connection lasts.
struct Peer {
  uid_t uid = 0;
  pid_t pid = 0;
  std::optional<Owner> owner = {};  // none: it may trace every process
  // Makes the sink that brings a session's events to this peer, as it has asked for them. Fails where its
  // user has no memory left for one.
  std::function<Result<std::shared_ptr<EventSink>>(const protocol::SessionSubscribe&)> make_sink;
  // Whether its user may have more matched, beside its other requests that are not answered yet. None: it may.
  std::function<Status()> check_matches = {};
  std::map<std::string, std::shared_ptr<EventSink>> subscriptions;  // by session
  std::set<std::string> unnamed_sessions;                           // end with the connection
  // That came and no request has taken yet, the oldest first.
  std::deque<Fd> descriptors;
};

// The oldest of its descriptors; fails where fewer came, and then says of what they are.
Result<std::vector<Fd>> take_descriptors(Peer& peer, size_t count, const char* of);

struct ServerCounts {
  uint64_t clients = 0;
  uint64_t requests = 0;
  uint64_t refused_requests = 0;
  uint64_t client_drops = 0;
};

class Commands {
 public:
  // Without what dumps take that nobody asks for, only those who ask get one. Without a store, which is
  // borrowed, no session is saved.
  Commands(Engine& engine, const ServerCounts& counts,
           std::optional<FlightRecorders::Unasked> unasked = std::nullopt,
           DescriptorStore* store = nullptr);
  // Gives recordings some seconds to be written to their end.
  ~Commands();

  Result<protocol::HelloReply> handle(const protocol::Hello&, Peer&);
  Result<protocol::ProbeListReply> handle(const protocol::ProbeList&, Peer&);
  // What its answer is made of (reply_of() of parts.h), which can be long.
  Result<Resolution> list(const protocol::ProbeList& request, Peer& peer);
  Result<protocol::ProbeInfoReply> handle(const protocol::ProbeInfo&, Peer&);
  Result<ProbesInfo> info(const protocol::ProbeInfo& request,
                          const Peer& peer) const;  // of its answer, too
  Result<protocol::SessionPart> handle(const protocol::SessionCreate&, Peer&);
  Result<protocol::SessionListReply> handle(const protocol::SessionList&, Peer&);
  Result<protocol::SessionPart> handle(const protocol::SessionShow&, Peer&);
  Result<protocol::ProveReply> handle(const protocol::SessionProve&, Peer&);
  Result<protocol::BudgetReply> handle(const protocol::SessionBudget&, Peer&);
  Result<protocol::SwitchReply> handle(const protocol::SessionDelete&, Peer&);
  Result<protocol::StageReply> handle(const protocol::StageSet&, Peer&);
  Result<protocol::StageReply> handle(const protocol::StageRemove&, Peer&);
  Result<protocol::CommitReply> handle(const protocol::StageCommit&, Peer&);
  // Those that were asked for together share a switch where they can. The answers are in their order.
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
  Result<ReadResults> read(const protocol::SessionRead& request);  // of its answer, too
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

  // Before what may need more memory, for a peer who may not trace every process.
  Status check_memory(const Peer& peer) const;

  // The answer where std::bad_alloc ended a request. What it had taken has been given back.
  static Error out_of_memory() {
    return Error{Code::exhausted, "there is not enough memory for this"};
  }

  // Leaves out what costs more than its session's budget: to be called at the engine's
  // next_budget_look_ns(), or as often as may be.
  void keep_budgets();

  // What every flight recorder holds, to the folder.
  void dump_recorders(const std::string& reason) { flight_recorders_.dump_all(reason); }
  // Dumps for what the engine has noticed: to be called when its notices_fd() is readable.
  void take_notices();
  // Arms what was executed in cgroups that sessions follow, and what was mapped: also to be called when files have
  // been read, and at Engine::next_follow_ns().
  void follow_programs();
  void dump_failed(const UnitFailure& failure) { flight_recorders_.dump_failed(failure); }
  // To be called now and then, after these, until it is false.
  bool look_after_dumps() { return flight_recorders_.look_after(); }

  // Whether the peer may ask for anything of the session: one that may trace every process may, and the
  // session's own user, with all the rights that it had when the session was made. Who may not is not told
  // more than that there is such a session. None where there is no session of that name: who asks for one
  // is told so.
  std::optional<Error> why_not(const Peer& peer, const std::string& session) const;

  // Saved sessions, as the next daemon is to find them.
  KeptSessions& kept() { return kept_; }
  // After anything that may have changed one of them.
  void save_sessions();
  // As creating it, of a session that goes on in the engine.
  Status take_up(const protocol::SessionCreate& request, const Peer& peer);

  // The peer is gone: what was only for it ends.
  void leave(Peer& peer);

 private:
  protocol::SessionPart part_of(const Session& session) const;
  std::optional<protocol::SpecPart> explained(const Setting& setting, const Access& access);
  // Of a session; of a user who has a quota, or of nobody.
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
  // By session; those that have ended, too, until their session does or is recorded anew.
  std::map<std::string, Recording> recordings_;
  std::vector<Recording> ending_;  // of sessions that are gone: being written
  FlightRecorders flight_recorders_;
  KeptSessions kept_;
  Examination examination_;
};

}  // namespace tracectl
