// SPDX-License-Identifier: BSD-2-Clause
//
// The socket server: bytes to lines to requests, and replies and events back. Runs on the control
// thread's loop; a client that reads slowly or sends nothing does not delay others.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "daemon/base/event_loop.h"
#include "daemon/base/fd.h"
#include "daemon/control/answer_writer.h"
#include "daemon/control/client_limits.h"
#include "daemon/control/commands.h"
#include "daemon/control/connection.h"
#include "daemon/control/receiving.h"
#include "daemon/control/rights.h"
#include "daemon/control/upkeep.h"
#include "daemon/process/unit_failures.h"
#include "daemon/protocol/frames.h"

namespace tracectl {

class Server {
 public:
  // `listening_fd`, the loop and the store are borrowed. `store`: keeps what outlives the process; null: nothing does.
  static Result<std::unique_ptr<Server>> start(EventLoop& loop, int listening_fd, Engine& engine,
                                               DumpFolder dumps, DescriptorStore* store);
  ~Server();

  // To be called before the loop runs: restores the sessions that the previous daemon left, and begins those in
  // the folder (session_files.h).
  void begin_saved(const std::string& folder);

  // To be called when the reading of events has ended: sends the last events to the clients.
  void send_rest();

  // Dumps all flight recorders to files in the folder.
  void dump_recorders(const std::string& reason) { upkeep_->dump_recorders(reason); }

 private:
  static constexpr size_t kReadBytes = 64 << 10;
  static constexpr size_t kMostStatusBytes =
      512;  // of a request for the status that is answered while the kernel works
  // Descriptors that came and are not taken yet: as many as one request takes at most.
  static constexpr size_t kMostDescriptors =
      std::max<size_t>(protocol::RotatePart::kMostFiles, protocol::kMostFilesOfRequest);

  Server(EventLoop& loop, Engine& engine, DumpFolder dumps, DescriptorStore* store,
         const Privileged& privileged, Fd wake, std::unique_ptr<Receiving> receiving,
         std::unique_ptr<AnswerWriter> writer);
  Status watch();
  Status make_timers();
  void accept_one();
  void turn_away();
  Result<std::shared_ptr<EventSink>> make_stream(const protocol::SessionSubscribe& asked,
                                                 const Peer& peer) const;
  Status add(Fd& socket);
  void let_go(Fd socket);
  void serve(Connections::iterator at, uint32_t events);
  void receive(Connection& connection);
  void receive_of_user(Connection& connection);
  void receive_elsewhere(Connection& connection);
  void take_received();
  void take(Connection& connection, Receiving::Received received);
  void end_late_receiving();
  void set_receiving_timer();
  static void take_descriptors(Connection& connection, std::vector<Fd> sent, bool truncated);
  void take_bytes(Connection& connection, const char* bytes, ssize_t count);
  void feed(Connection& connection, std::string_view bytes);
  bool answer_next(Connection& connection);
  bool answer(Connection& connection, PutAside request);
  void answer_meanwhile(int done_fd);
  std::vector<Connection*> idle();
  bool answer_status(Connection& connection);
  void put(Connection& connection, const Reply& reply);
  void take_written();
  bool await_flush(Connection& connection, AskedFlush asked);
  bool answer_flush(Connection& connection);
  void take_flushed();
  void commit_asked();
  void take_read();
  void pump_streams();
  void take_events(Connection& connection);
  void note_unsent();
  std::shared_ptr<UserTurns> turns_of(uid_t user) const;
  void await_turn(Connection& connection);
  void answer_for_a_turn(Connection& connection);
  void take_turn();
  void settle(Connections::iterator at);
  void drop(Connections::iterator at);
  void await_trim();
  void trim();

  EventLoop& loop_;
  Engine& engine_;
  Privileged privileged_;
  ServerCounts counts_;
  UnitFailures units_;
  Commands commands_;
  int listening_fd_ = -1;  // borrowed
  Fd wake_;                // the reader's thread has given events to a stream
  Fd spare_;               // closed to accept a client when no descriptor is left
  std::unique_ptr<Receiving> receiving_;
  std::unique_ptr<AnswerWriter> writer_;
  std::unique_ptr<Upkeep> upkeep_;
  EventLoop::Watch listening_, waking_, reading_, flushed_, taking_received_, writing_;
  EventLoop::Later committing_, turning_;
  EventLoop::Timer late_, trimming_;
  const Connection* answering_ = nullptr;     // whose request is being done
  std::shared_ptr<Learned> commits_learned_;  // by commits that wait for files
  Connections connections_;
  ClientLimits limits_;
  uint64_t last_connection_ = 0;  // its number
  uint64_t last_turn_ = 0;        // its number
  bool awaits_trim_ = false;
};

}  // namespace tracectl
