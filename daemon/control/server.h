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
#include "daemon/control/commands.h"
#include "daemon/control/dispatch.h"
#include "daemon/control/receiving.h"
#include "daemon/control/rights.h"
#include "daemon/process/unit_failures.h"
#include "daemon/protocol/frames.h"
#include "daemon/stream/client_stream.h"

namespace tracectl {

class Server {
 public:
  // `listening_fd`, the loop and the store are borrowed. `store`: keeps what outlives the process; null: nothing does.
  static Result<std::unique_ptr<Server>> start(EventLoop& loop, int listening_fd, Engine& engine,
                                               DumpFolder dumps, DescriptorStore* store);
  ~Server();

  // To be called before the loop runs: continues the sessions that the previous daemon left, and begins those in
  // the folder (saved_sessions.h).
  void begin_saved(const std::string& folder);

  // To be called when the reading of events has ended: sends the last events to the clients.
  void send_rest();

  // Dumps all flight recorders to files in the folder.
  void dump_recorders(const std::string& reason);

 private:
  static constexpr size_t kReadBytes = 64 << 10;
  static constexpr size_t kMostStatusBytes =
      512;  // of a request for the status that is answered while the kernel works
  // Descriptors that came and are not taken yet: as many as one request takes at most.
  static constexpr size_t kMostDescriptors =
      std::max<size_t>(protocol::RotatePart::kMostFiles, protocol::kMostFilesOfRequest);

  // A request that waits until a file has been read, or others had their turn, and is then made again.
  struct PutAside {
    std::string line;
    std::deque<Fd> descriptors;  // those that had come until then
    std::shared_ptr<Learned> learned;
    std::optional<Reading::Ticket> awaited = {};  // none: it goes on at its user's turn
    size_t matches = 0;                           // held by it
  };

  // The control thread's time for one user. All connections of the user share it.
  struct UserTurns {
    uint64_t used_ns = 0;    // since the last turn of any user
    uint64_t last_turn = 0;  // its number
  };

  struct AwaitedFlush {
    AskedFlush asked;
    uint64_t asked_ns;
  };

  struct Connection {
    uint64_t number = 0;
    Fd socket;
    Peer peer;
    std::shared_ptr<UserTurns> turns;
    protocol::LineBuffer in;
    std::optional<uint64_t> receives_since_ns;  // while only Receiving reads from it
    // The request that waits for its turn, or for a file to be read; later requests wait for it.
    std::optional<AskedCommit> commit;
    std::optional<Reading::Ticket> commit_awaits;
    std::optional<PutAside> put_aside;
    std::optional<AwaitedFlush> flush;
    std::optional<size_t> writing;  // while the writer writes its answer: the matches held for it
    std::string out;
    size_t sent = 0;           // of `out`
    size_t answers = 0;        // bytes of answers in its unsent part, at most
    bool ended = false;        // the client sends no more; it may still read
    bool awaits_turn = false;  // has requests that wait for its user's turn
    bool closing = false;      // closed after sending what can be sent at once
    EventLoop::Watch watch;

    size_t unsent() const { return out.size() - sent; }
    bool awaits_answer() const { return commit || put_aside || flush || writing; }
    size_t matches() const { return put_aside ? put_aside->matches : writing.value_or(0); }
    bool awaits_turn_only() const { return put_aside && !put_aside->awaited; }
  };
  using Connections = std::list<Connection>;

  Server(EventLoop& loop, Engine& engine, DumpFolder dumps, DescriptorStore* store,
         const Privileged& privileged, Fd wake, std::unique_ptr<Receiving> receiving);
  void accept_one();
  void turn_away();
  template <class Count> MemoryWanted sum_with(const Peer& peer, Count bytes_of) const;
  Status check_streams_of(const Peer& peer) const;
  Status check_requests_of(const Peer& peer) const;
  Status check_answers_of(const Peer& peer) const;
  Status check_matches_of(const Peer& peer) const;
  bool is_within(const MemoryWanted& waiting) const;
  Result<std::shared_ptr<EventSink>> make_stream(const protocol::SessionSubscribe& asked,
                                                 const Peer& peer) const;
  Status check_connections_of(const PeerIdentity& peer, const std::optional<Owner>& owner) const;
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
  static void refuse(Connection& connection, const Error& why);
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
  void end_lingering();
  void set_linger_timer();
  void keep_budgets();
  void set_budget_timer();
  void note_alive();
  void take_notices();
  void take_replaced();
  void follow_programs();
  void set_follow_timer();
  void dump_failed(const UnitFailure& failure);
  void look_after_dumps();
  void pump_streams();
  void take_events(Connection& connection);
  static void note_sent(Connection& connection);
  void send(Connection& connection);
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
  EventLoop::Watch listening_, waking_, noticing_, replacing_, reading_, flushed_, taking_received_,
      writing_;
  EventLoop::Later committing_, turning_;
  EventLoop::Timer lingering_, budgeting_, following_, dumping_, beating_, late_, trimming_;
  uint64_t linger_timer_ns_ = 0, budget_timer_ns_ = 0,
           follow_timer_ns_ = 0;              // what they are set to
  const Connection* answering_ = nullptr;     // whose request is being done
  std::shared_ptr<Learned> commits_learned_;  // by commits that wait for files
  Connections connections_;
  uint64_t last_connection_ = 0;  // its number
  uint64_t last_turn_ = 0;        // its number
  bool awaits_trim_ = false;
};

}  // namespace tracectl
