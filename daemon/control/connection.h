// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/event_loop.h"
#include "daemon/base/fd.h"
#include "daemon/control/commands.h"
#include "daemon/control/dispatch.h"
#include "daemon/protocol/frames.h"

namespace tracectl {

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

// A client's connection: what it has sent, what it waits for, and what is to be sent to it.
struct ClientConnection {
  // With this many unsent bytes it gets no more events, and with so many of answers it is not read from.
  static constexpr size_t kMostUnsentBytes = 1 << 20;

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
  bool is_full() const { return unsent() >= kMostUnsentBytes; }
  bool is_full_of_answers() const { return answers >= kMostUnsentBytes; }
  bool has_to_send() const;
  bool awaits_answer() const { return commit || put_aside || flush || writing; }
  bool awaits_turn_only() const { return put_aside && !put_aside->awaited; }
  bool awaits_anything() const { return awaits_answer() || awaits_turn || receives_since_ns; }
  size_t matches() const { return put_aside ? put_aside->matches : writing.value_or(0); }

  // Adds events that wait for this client to what is to be sent, one piece of each session's, and counts those that
  // were lost before.
  void take_events(ServerCounts& counts);
  void take_all_events(ServerCounts& counts);
  // Adds an answer to what is to be sent.
  void put(const Reply& reply, ServerCounts& counts);
  // Sends what the client takes at once.
  void send();
  // Adds the error to what is to be sent, after which the connection is closed.
  void refuse(const Error& why);
  // The lines that have not been sent completely.
  std::string_view unsent_lines() const;

 private:
  void forget_sent();
  void note_sent();
};

using Connections = std::list<ClientConnection>;

// To be called after anything has happened to a connection: answers its requests, sends, and sets what to wait for
// next. The connection may be gone afterwards.
using Settle = std::function<void(Connections::iterator)>;

// The end if the connection is gone.
Connections::iterator find(Connections& connections, uint64_t number);

// `act` may settle the connection it is called for.
template <class Act> void for_each(Connections& connections, const Act& act) {
  for (auto at = connections.begin(); at != connections.end();) {
    const auto next = std::next(at);
    act(at);
    at = next;
  }
}

}  // namespace tracectl
