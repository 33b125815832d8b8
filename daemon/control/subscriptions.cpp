// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/subscriptions.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/clock.h"
#include "daemon/protocol/events.h"
#include "daemon/stream/client_stream.h"

namespace tracectl {

Result<std::unique_ptr<Subscriptions>> Subscriptions::start(EventLoop& loop, Engine& engine,
                                                            Connections& connections,
                                                            const ClientLimits& limits,
                                                            ServerCounts& counts, Settle settle) {
  Fd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!wake) return Error::from_errno("eventfd");
  std::unique_ptr<Subscriptions> subscriptions{
      new Subscriptions(engine, connections, limits, counts, std::move(settle), std::move(wake))};
  auto watching = assign(subscriptions->waking_,
                         loop.watch(subscriptions->wake_.get(), EventLoop::kReadable,
                                    [all = subscriptions.get()](uint32_t) { all->pump(); }));
  if (!watching) return watching.error();
  return subscriptions;
}

Result<std::shared_ptr<HitSink>> Subscriptions::make_stream(const protocol::SessionSubscribe& asked,
                                                            const Peer& peer) const {
  if (auto within = limits_.check_streams(peer); !within) return within.error();
  const auto wake = [fd = wake_.get()] {
    const uint64_t one = 1;
    (void)!::write(fd, &one, sizeof(one));
  };
  return std::shared_ptr<HitSink>{std::make_shared<ClientStream>(asked.session, asked.describe,
                                                                 limits_.stream_bytes(peer), wake)};
}

void Subscriptions::pump() {
  uint64_t count = 0;
  (void)!::read(wake_.get(), &count, sizeof(count));
  for_each(connections_, [&](Connections::iterator at) {
    if (!at->peer.subscriptions.empty()) settle_(at);
  });
}

// For each session the unsent events of the subscriber that has most of them.
void Subscriptions::note_unsent() {
  std::map<std::string, uint64_t> unsent;
  for (ClientConnection& connection : connections_) {
    if (connection.closing || !connection.has_to_send()) continue;
    connection.take_all_events(counts_);
    for (const auto& [session, events] : protocol::reported_in(connection.unsent_lines()))
      unsent[session] = std::max(unsent[session], events);
  }
  for (const auto& [session, events] : unsent) engine_.streams().note_unsent(session, events);
}

void Subscriptions::send_rest() {
  constexpr uint64_t kLongestNs = 2'000'000'000;
  for (const uint64_t until = boot_ns() + kLongestNs; boot_ns() < until;) {
    std::vector<pollfd> unsent;
    for (ClientConnection& connection : connections_) {
      if (connection.peer.subscriptions.empty()) continue;
      connection.take_events(counts_);
      connection.send();
      if (connection.has_to_send() && !connection.closing)
        unsent.push_back({connection.socket.get(), POLLOUT, 0});
    }
    if (unsent.empty()) return;
    ::poll(unsent.data(), unsent.size(), 100);
  }
  note_unsent();
}

}  // namespace tracectl
