// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/turns.h"

#include <algorithm>
#include <utility>

#include "daemon/base/clock.h"

namespace tracectl {

Result<std::unique_ptr<Turns>> Turns::start(EventLoop& loop, Connections& connections,
                                            Requests& requests, ServerCounts& counts,
                                            Settle settle) {
  std::unique_ptr<Turns> turns{new Turns(connections, requests, counts, std::move(settle))};
  auto made = assign(turns->turning_, loop.later([all = turns.get()] { all->take(); }));
  if (!made) return made.error();
  return turns;
}

std::shared_ptr<UserTurns> Turns::of(uid_t user) const {
  for (const ClientConnection& other : connections_)
    if (other.turns && other.peer.uid == user) return other.turns;
  return std::make_shared<UserTurns>();
}

void Turns::await(ClientConnection& connection) {
  connection.awaits_turn = true;
  turning_.ask();
}

void Turns::answer(ClientConnection& connection) {
  UserTurns& turns = *connection.turns;
  connection.awaits_turn = false;
  for (;;) {
    if (!connection.is_full()) connection.take_events(counts_);
    connection.send();
    if (connection.closing || connection.is_full_of_answers()) return;
    if (connection.awaits_answer() && !connection.awaits_turn_only()) return;
    if (turns.used_ns >= kTurnNs) return await(connection);
    const uint64_t began_ns = boot_ns();
    const bool answered = requests_.answer_next(connection);
    turns.used_ns += boot_ns() - began_ns;
    if (!answered) return;
  }
}

// The next turn is that of the user who has waited longest since its last one. Only one turn is taken at a time, so
// that new requests of other users come before the next.
void Turns::take() {
  auto next = connections_.end();
  for (auto at = connections_.begin(); at != connections_.end(); ++at) {
    at->turns->used_ns = 0;
    if (!at->awaits_turn) continue;
    if (next == connections_.end() || at->turns->last_turn < next->turns->last_turn) next = at;
  }
  if (next == connections_.end()) return;
  next->turns->last_turn = ++last_;
  connections_.splice(connections_.end(), connections_, next);
  settle_(next);
  const auto awaits = [](const ClientConnection& connection) { return connection.awaits_turn; };
  if (std::any_of(connections_.begin(), connections_.end(), awaits)) turning_.ask();
}

}  // namespace tracectl
