// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/server.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "daemon/base/clock.h"
#include "daemon/control/dispatch.h"
#include "daemon/control/log.h"
#include "daemon/control/session_files.h"
#include "daemon/protocol/events.h"
#include "daemon/stream/client_stream.h"

namespace tracectl {
namespace {

constexpr size_t kMostConnections = 2048;
// The time for the requests of one user, on all connections, before the next user's turn.
constexpr uint64_t kTurnNs = 5'000'000;
constexpr uint64_t kTrimNs = 1'000'000'000;  // how often memory is given back

// The kernel still knows the user after the peer has ended.
uid_t user_of(const Fd& socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
  return peer.uid;
}

void report_unwatched(const Error& why) {
  log_warning(
      "failures of units are not seen: {}; making a session that is dumped on one tries "
      "again",
      why.message);
}

}  // namespace

Server::Server(EventLoop& loop, Engine& engine, DumpFolder dumps, DescriptorStore* store,
               const Privileged& privileged, Fd wake, std::unique_ptr<Receiving> receiving,
               std::unique_ptr<AnswerWriter> writer)
    : loop_(loop),
      engine_(engine),
      privileged_(privileged),
      units_(
          loop, [this](const UnitFailure& failure) { upkeep_->dump_failed(failure); },
          report_unwatched),
      commands_(engine, counts_, FlightRecorders::Unasked{std::move(dumps), units_}, store),
      wake_(std::move(wake)),
      spare_(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
      receiving_(std::move(receiving)),
      writer_(std::move(writer)),
      limits_(connections_, engine.options().quota) {}

Server::~Server() {
  commands_.saved().beat();
  engine_.kernel().long_work().set_meanwhile({});
  while (!connections_.empty()) drop(connections_.begin());
}

Result<std::unique_ptr<Server>> Server::start(EventLoop& loop, int listening_fd, Engine& engine,
                                              DumpFolder dumps, DescriptorStore* store) {
  Fd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!wake) return Error::from_errno("eventfd");
  const auto privileged = Privileged::of_this_process();
  if (!privileged) return privileged.error();
  auto receiving = Receiving::start({.bytes = kReadBytes, .descriptors = kMostDescriptors});
  if (!receiving) return receiving.error();
  auto writer = AnswerWriter::start();
  if (!writer) return writer.error();
  std::unique_ptr<Server> server{new Server(loop, engine, std::move(dumps), store, *privileged,
                                            std::move(wake), std::move(*receiving),
                                            std::move(*writer))};
  server->listening_fd_ = listening_fd;
  if (auto watching = server->watch(); !watching) return watching.error();
  if (auto made = server->make_timers(); !made) return made.error();
  auto upkeep = Upkeep::start(loop, engine, server->commands_);
  if (!upkeep) return upkeep.error();
  server->upkeep_ = std::move(*upkeep);
  return server;
}

Status Server::watch() {
  struct Watched {
    EventLoop::Watch& watch;
    int fd;  // -1: nothing to watch
    void (Server::*callback)();
  };
  for (const Watched& one :
       {Watched{listening_, listening_fd_, &Server::accept_one},
        Watched{waking_, wake_.get(), &Server::pump_streams},
        Watched{taking_received_, receiving_->fd(), &Server::take_received},
        Watched{writing_, writer_->fd(), &Server::take_written},
        Watched{reading_, engine_.reading().fd(), &Server::take_read},
        Watched{flushed_, engine_.streams().flushed_fd(), &Server::take_flushed}}) {
    if (one.fd < 0) continue;
    auto made =
        assign(one.watch, loop_.watch(one.fd, EventLoop::kReadable,
                                      [this, call = one.callback](uint32_t) { (this->*call)(); }));
    if (!made) return made;
  }
  return ok();
}

Status Server::make_timers() {
  if (auto made = assign(committing_, loop_.later([this] { commit_asked(); })); !made) return made;
  if (auto made = assign(turning_, loop_.later([this] { take_turn(); })); !made) return made;
  if (auto made = assign(late_, loop_.timer([this] { end_late_receiving(); })); !made) return made;
  return assign(trimming_, loop_.timer([this] { trim(); }));
}

void Server::begin_saved(const std::string& folder) {
  begin_sessions(folder, engine_, commands_);
  upkeep_->set_timers();
  upkeep_->beat();
  engine_.kernel().long_work().set_meanwhile([this](int done_fd) { answer_meanwhile(done_fd); });
}

// ---- connections ----

void Server::accept_one() {
  Fd socket{::accept4(listening_fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
  if (!socket && (errno == EMFILE || errno == ENFILE)) return turn_away();
  if (!socket) return;
  if (connections_.size() == kMostConnections) {
    log_warning("refused a client: there are {} already", kMostConnections);
    return let_go(std::move(socket));
  }
  if (auto added = add(socket); !added) {
    log_warning("refused a client: {}", added.error().message);
    let_go(std::move(socket));
  }
}

// Closing the socket closes descriptors that were sent and not received, which can block.
void Server::let_go(Fd socket) {
  if (!socket) return;
  ::shutdown(socket.get(), SHUT_RD);
  char byte = 0;
  if (look_ahead(socket, &byte, sizeof(byte)).bytes == 0) return;
  const uid_t user = user_of(socket);
  receiving_->let_go(user, std::move(socket));
}

// No descriptor is left for the new client. If it kept waiting, the loop would wake for it again and again, so
// the spare descriptor is closed to accept the connection and close it.
void Server::turn_away() {
  spare_ = Fd{};
  Fd socket{::accept4(listening_fd_, nullptr, nullptr, SOCK_CLOEXEC)};
  const bool came = socket.get() >= 0;
  let_go(std::move(socket));
  spare_ = Fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  if (came) log_warning("refused a client: too many files are open");
}

Result<std::shared_ptr<EventSink>> Server::make_stream(const protocol::SessionSubscribe& asked,
                                                       const Peer& peer) const {
  if (auto within = limits_.check_streams(peer); !within) return within.error();
  const auto wake = [fd = wake_.get()] {
    const uint64_t one = 1;
    (void)!::write(fd, &one, sizeof(one));
  };
  return std::shared_ptr<EventSink>{std::make_shared<ClientStream>(
      asked.session, asked.describe, ClientLimits::kStreamBytes, wake)};
}

// Takes the socket unless it fails.
Status Server::add(Fd& socket) {
  const auto identity = identify_peer(socket.get());
  if (!identity) return identity.error();
  const auto owner = owner_of(*identity, privileged_);
  if (auto within =
          limits_.check_connections(identity->uid, owner, receiving_->let_go_of(identity->uid));
      !within)
    return within;
  const auto at = connections_.emplace(connections_.end());
  at->number = ++last_connection_;
  at->socket = std::move(socket);
  at->peer.uid = identity->uid;
  at->peer.pid = identity->pid;
  at->peer.owner = owner;
  at->turns = turns_of(identity->uid);
  at->peer.make_sink = [this, at](const protocol::SessionSubscribe& asked) {
    return make_stream(asked, at->peer);
  };
  at->peer.check_matches = [this, at] { return limits_.check_matches(at->peer); };
  auto watch = loop_.watch(at->socket.get(), EventLoop::kReadable,
                           [this, at](uint32_t events) { serve(at, events); });
  if (!watch) {
    socket = std::move(at->socket);
    connections_.erase(at);
    return watch.error();
  }
  at->watch = std::move(*watch);
  ++counts_.clients;
  return ok();
}

void Server::drop(Connections::iterator at) {
  if (at->put_aside && at->put_aside->awaited) engine_.reading().give_up(*at->put_aside->awaited);
  if (at->commit_awaits) engine_.reading().give_up(*at->commit_awaits);
  at->closing = true;
  commands_.leave(at->peer);
  at->watch = {};
  if (at->peer.owner) let_go(std::move(at->socket));
  connections_.erase(at);
  --counts_.clients;
  await_trim();
}

// Makes trim() run soon, which gives memory back to the system: the allocator would keep that of the answers of closed
// connections. At most once in kTrimNs, because trimming a large heap takes tens of milliseconds.
void Server::await_trim() {
  if (std::exchange(awaits_trim_, true)) return;
  if (auto set = trimming_.set(boot_ns() + kTrimNs); !set) log_error("{}", set.error().message);
}

void Server::trim() {
  awaits_trim_ = false;
  ::malloc_trim(0);
}

// ---- events ----

void Server::take_events(Connection& connection) {
  counts_.client_drops += connection.take_events();
}

void Server::pump_streams() {
  uint64_t count = 0;
  (void)!::read(wake_.get(), &count, sizeof(count));
  for (auto at = connections_.begin(); at != connections_.end();) {
    const auto next = std::next(at);
    if (!at->peer.subscriptions.empty()) settle(at);
    at = next;
  }
}

// For each session the unsent events of the subscriber that has most of them.
void Server::note_unsent() {
  std::map<std::string, uint64_t> unsent;
  for (const Connection& connection : connections_) {
    if (connection.closing || connection.out.empty()) continue;
    for (const auto& [session, events] : protocol::reported_in(connection.unsent_lines()))
      unsent[session] = std::max(unsent[session], events);
  }
  for (const auto& [session, events] : unsent) engine_.streams().note_unsent(session, events);
}

// Sends the last events to clients that take them within kLongestNs. A client that does not learns how many it missed
// when it connects again.
void Server::send_rest() {
  constexpr uint64_t kLongestNs = 2'000'000'000;
  for (const uint64_t until = boot_ns() + kLongestNs; boot_ns() < until;) {
    std::vector<pollfd> unsent;
    for (Connection& connection : connections_) {
      if (connection.peer.subscriptions.empty()) continue;
      take_events(connection);
      connection.send();
      if (!connection.out.empty() && !connection.closing)
        unsent.push_back({connection.socket.get(), POLLOUT, 0});
    }
    if (unsent.empty()) return;
    ::poll(unsent.data(), unsent.size(), 100);
  }
  note_unsent();
}

// ---- turns ----

// All connections of a user share one.
std::shared_ptr<UserTurns> Server::turns_of(uid_t user) const {
  for (const Connection& other : connections_)
    if (other.turns && other.peer.uid == user) return other.turns;
  return std::make_shared<UserTurns>();
}

void Server::await_turn(Connection& connection) {
  connection.awaits_turn = true;
  turning_.ask();
}

// Answers requests as long as the client takes the answers and its user's turn lasts. A user who has used kTurnNs
// since the last turn waits for the next one.
void Server::answer_for_a_turn(Connection& connection) {
  UserTurns& turns = *connection.turns;
  connection.awaits_turn = false;
  for (;;) {
    if (!connection.is_full()) take_events(connection);
    connection.send();
    const bool waits = connection.awaits_answer() && !connection.awaits_turn_only();
    if (connection.closing || connection.is_full() || waits) return;
    if (turns.used_ns >= kTurnNs) return await_turn(connection);
    const uint64_t began_ns = boot_ns();
    const bool answered = answer_next(connection);
    turns.used_ns += boot_ns() - began_ns;
    if (!answered) return;
  }
}

// The next turn is that of the user who has waited longest since its last one. Only one turn is taken at a time, so
// that new requests of other users come before the next.
void Server::take_turn() {
  auto next = connections_.end();
  for (auto at = connections_.begin(); at != connections_.end(); ++at) {
    at->turns->used_ns = 0;
    if (!at->awaits_turn) continue;
    if (next == connections_.end() || at->turns->last_turn < next->turns->last_turn) next = at;
  }
  if (next == connections_.end()) return;
  next->turns->last_turn = ++last_turn_;
  connections_.splice(connections_.end(), connections_, next);
  settle(next);
  const auto awaits = [](const Connection& connection) { return connection.awaits_turn; };
  if (std::any_of(connections_.begin(), connections_.end(), awaits)) turning_.ask();
}

// To be called after anything has happened to a connection: answers requests, sends, and sets what to wait for next.
void Server::settle(Connections::iterator at) {
  Connection& connection = *at;
  answer_for_a_turn(connection);
  if (connection.closing) connection.send();  // the client can still read the reason
  upkeep_->set_timers();
  const bool waits = connection.awaits_anything();
  const bool has_all = connection.ended && !waits && connection.unsent() == 0;
  if (connection.closing || has_all) return drop(at);
  const bool wants_more = !connection.ended && !waits && !connection.is_full();
  const uint32_t events =
      (connection.unsent() ? EventLoop::kWritable : 0u) | (wants_more ? EventLoop::kReadable : 0u);
  if (auto set = connection.watch.set_events(events); !set) drop(at);
}

}  // namespace tracectl
