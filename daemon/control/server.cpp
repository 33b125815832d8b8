// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/server.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "daemon/base/clock.h"
#include "daemon/control/dispatch.h"
#include "daemon/control/saved_sessions.h"
#include "daemon/protocol/events.h"

namespace tracectl {
namespace {

constexpr size_t kMostConnections = 2048;
constexpr size_t kMostOfUser = 64;  // connections of a user who may not trace every process
// A connection with this many unsent bytes is not read from, and gets no more events.
constexpr size_t kMostUnsentBytes = 1 << 20;
// The time for the requests of one user, on all connections, before the next user's turn.
constexpr uint64_t kTurnNs = 5'000'000;
constexpr size_t kStreamBytes = 8 << 20;  // events that wait for one client, for each session
// The most memory that these take: a growing buffer exists twice.
constexpr size_t kSubscriptionBytes = 2 * kStreamBytes;
// The most bytes of incomplete requests, and of answers not yet taken, of a user who may not trace every process.
// Requests beyond that are refused, so there can be one answer more.
constexpr size_t kMostWaitingBytes = 64 << 20;

constexpr uint64_t kTrimNs = 1'000'000'000;    // how often memory is given back
constexpr uint64_t kDumpLookNs = 100'000'000;  // how often dumps are checked

// The kernel still knows the user after the peer has ended.
uid_t user_of(const Fd& socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
  return peer.uid;
}

// The lines of `out` that have not been sent completely.
std::string_view unsent_lines(const std::string& out, size_t sent) {
  const size_t begins = sent ? out.rfind('\n', sent - 1) + 1 : 0;
  return std::string_view(out).substr(begins);
}

void tell_unwatched(const Error& why) {
  spdlog::warn(
      "failures of units are not seen: {}; making a session that is dumped on one tries "
      "again",
      why.message);
}

}  // namespace

Server::Server(EventLoop& loop, Engine& engine, DumpFolder dumps, DescriptorStore* store,
               const Privileged& privileged, Fd wake, std::unique_ptr<Receiving> receiving)
    : loop_(loop),
      engine_(engine),
      privileged_(privileged),
      units_(
          loop, [this](const UnitFailure& failure) { dump_failed(failure); }, tell_unwatched),
      commands_(engine, counts_, FlightRecorders::Unasked{std::move(dumps), units_}, store),
      wake_(std::move(wake)),
      spare_(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
      receiving_(std::move(receiving)) {}

Server::~Server() {
  commands_.kept().beat();
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
  std::unique_ptr<Server> server{new Server(loop, engine, std::move(dumps), store, *privileged,
                                            std::move(wake), std::move(*receiving))};
  auto* raw = server.get();
  raw->listening_fd_ = listening_fd;
  auto listening =
      loop.watch(listening_fd, EventLoop::kReadable, [raw](uint32_t) { raw->accept_one(); });
  if (!listening) return listening.error();
  server->listening_ = std::move(*listening);
  auto waking =
      loop.watch(raw->wake_.get(), EventLoop::kReadable, [raw](uint32_t) { raw->pump_streams(); });
  if (!waking) return waking.error();
  server->waking_ = std::move(*waking);
  auto taking = loop.watch(raw->receiving_->fd(), EventLoop::kReadable,
                           [raw](uint32_t) { raw->take_received(); });
  if (!taking) return taking.error();
  server->taking_received_ = std::move(*taking);
  auto writer = AnswerWriter::start();
  if (!writer) return writer.error();
  raw->writer_ = std::move(*writer);
  auto writing = loop.watch(raw->writer_->fd(), EventLoop::kReadable,
                            [raw](uint32_t) { raw->take_written(); });
  if (!writing) return writing.error();
  server->writing_ = std::move(*writing);
  auto noticing = loop.watch(engine.notices().fd(), EventLoop::kReadable,
                             [raw](uint32_t) { raw->take_notices(); });
  if (!noticing) return noticing.error();
  server->noticing_ = std::move(*noticing);
  if (engine.awaiting().replaced_fd() >= 0) {
    auto replacing = loop.watch(engine.awaiting().replaced_fd(), EventLoop::kReadable,
                                [raw](uint32_t) { raw->take_replaced(); });
    if (!replacing) return replacing.error();
    server->replacing_ = std::move(*replacing);
  }
  if (engine.reading().fd() >= 0) {
    auto reading = loop.watch(engine.reading().fd(), EventLoop::kReadable,
                              [raw](uint32_t) { raw->take_read(); });
    if (!reading) return reading.error();
    server->reading_ = std::move(*reading);
  }
  auto flushed = loop.watch(engine.streams().flushed_fd(), EventLoop::kReadable,
                            [raw](uint32_t) { raw->take_flushed(); });
  if (!flushed) return flushed.error();
  server->flushed_ = std::move(*flushed);
  auto committing = loop.later([raw] { raw->commit_asked(); });
  if (!committing) return committing.error();
  server->committing_ = std::move(*committing);
  auto turning = loop.later([raw] { raw->take_turn(); });
  if (!turning) return turning.error();
  server->turning_ = std::move(*turning);
  auto lingering = loop.timer([raw] { raw->end_lingering(); });
  if (!lingering) return lingering.error();
  server->lingering_ = std::move(*lingering);
  auto budgeting = loop.timer([raw] { raw->keep_budgets(); });
  if (!budgeting) return budgeting.error();
  server->budgeting_ = std::move(*budgeting);
  auto following = loop.timer([raw] { raw->follow_programs(); });
  if (!following) return following.error();
  server->following_ = std::move(*following);
  auto dumping = loop.timer([raw] { raw->look_after_dumps(); });
  if (!dumping) return dumping.error();
  server->dumping_ = std::move(*dumping);
  auto beating = loop.timer([raw] { raw->note_alive(); });
  if (!beating) return beating.error();
  server->beating_ = std::move(*beating);
  auto late = loop.timer([raw] { raw->end_late_receiving(); });
  if (!late) return late.error();
  server->late_ = std::move(*late);
  auto trimming = loop.timer([raw] { raw->trim(); });
  if (!trimming) return trimming.error();
  server->trimming_ = std::move(*trimming);
  return server;
}

void Server::begin_saved(const std::string& folder) {
  begin_saved_sessions(folder, engine_, commands_);
  set_budget_timer();
  set_follow_timer();
  note_alive();
  engine_.kernel().long_work().set_meanwhile([this](int done_fd) { answer_meanwhile(done_fd); });
}

// The timer also runs while no session is saved, so that saving the first one need not start it.
void Server::note_alive() {
  if (!commands_.kept().can_keep()) return;
  if (commands_.kept().has_any()) commands_.kept().beat();
  if (auto set = beating_.set(boot_ns() + KeptSessions::kBeatNs); !set)
    spdlog::error("{}", set.error().message);
}

// ---- connections ----

void Server::accept_one() {
  Fd socket{::accept4(listening_fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
  if (!socket && (errno == EMFILE || errno == ENFILE)) return turn_away();
  if (!socket) return;
  if (connections_.size() == kMostConnections) {
    spdlog::warn("refused a client: there are {} already", kMostConnections);
    return let_go(std::move(socket));
  }
  if (auto added = add(socket); !added) {
    spdlog::warn("refused a client: {}", added.error().message);
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
  if (came) spdlog::warn("refused a client: too many files are open");
}

Status Server::check_connections_of(const PeerIdentity& peer,
                                    const std::optional<Owner>& owner) const {
  if (!owner) return ok();
  const auto of_user = std::count_if(
      connections_.begin(), connections_.end(),
      [&](const Connection& other) { return other.peer.owner && other.peer.uid == peer.uid; });
  if (static_cast<size_t>(of_user) + receiving_->let_go_of(peer.uid) < kMostOfUser) return ok();
  return Error{Code::exhausted, "user " + std::to_string(peer.uid) + " has " +
                                    std::to_string(kMostOfUser) + " connections already"};
}

// Sums over all connections of users who have a quota.
template <class Count> MemoryWanted Server::sum_with(const Peer& peer, Count bytes_of) const {
  MemoryWanted sum;
  for (const Connection& other : connections_) {
    if (!other.peer.owner) continue;
    const size_t bytes = bytes_of(other);
    sum.of_all += bytes;
    if (other.peer.uid == peer.uid) sum.of_user += bytes;
  }
  return sum;
}

Status Server::check_streams_of(const Peer& peer) const {
  if (!peer.owner) return ok();
  MemoryWanted wanted = sum_with(peer, [](const Connection& other) {
    return other.peer.subscriptions.size() * kSubscriptionBytes;
  });
  wanted.of_user += kSubscriptionBytes;
  wanted.of_all += kSubscriptionBytes;
  const Quota& quota = engine_.options().quota;
  return quota.check_memory("streams to clients", wanted, quota.stream_bytes);
}

// Checks the bytes of incomplete requests.
Status Server::check_requests_of(const Peer& peer) const {
  if (!peer.owner) return ok();
  const auto wanted = sum_with(peer, [](const Connection& other) { return other.in.size(); });
  if (is_within(wanted)) return ok();
  return Error{Code::exhausted, "too many bytes of requests wait for their end: send whole ones"};
}

Status Server::check_answers_of(const Peer& peer) const {
  if (!peer.owner) return ok();
  const auto wanted = sum_with(peer, [](const Connection& other) { return other.answers; });
  if (is_within(wanted)) return ok();
  return Error{Code::exhausted, "too many bytes of answers wait to be taken: read them first"};
}

// Checks the matches held by requests that wait for their turn, for a file, or for their answer's text.
Status Server::check_matches_of(const Peer& peer) const {
  if (!peer.owner) return ok();
  size_t sum = 0;
  for (const Connection& other : connections_)
    if (other.peer.owner && other.peer.uid == peer.uid) sum += other.matches();
  const size_t most = engine_.options().quota.matches;
  if (sum <= most) return ok();
  return Error{Code::exhausted, "more than " + std::to_string(most) +
                                    " sites match what the user's requests ask for that are not "
                                    "answered yet: wait for the answers (quota.matches in "
                                    "tracectld.json)"};
}

bool Server::is_within(const MemoryWanted& waiting) const {
  return waiting.of_user <= kMostWaitingBytes &&
         waiting.of_all <= engine_.options().quota.of_all(kMostWaitingBytes);
}

Result<std::shared_ptr<EventSink>> Server::make_stream(const protocol::SessionSubscribe& asked,
                                                       const Peer& peer) const {
  if (auto within = check_streams_of(peer); !within) return within.error();
  const auto wake = [fd = wake_.get()] {
    const uint64_t one = 1;
    (void)!::write(fd, &one, sizeof(one));
  };
  return std::shared_ptr<EventSink>{
      std::make_shared<ClientStream>(asked.session, asked.describe, kStreamBytes, wake)};
}

// Takes the socket unless it fails.
Status Server::add(Fd& socket) {
  const auto identity = identify_peer(socket.get());
  if (!identity) return identity.error();
  const auto owner = owner_of(*identity, privileged_);
  if (auto within = check_connections_of(*identity, owner); !within) return within;
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
  at->peer.check_matches = [this, at] { return check_matches_of(at->peer); };
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
  if (auto set = trimming_.set(boot_ns() + kTrimNs); !set) spdlog::error("{}", set.error().message);
}

void Server::trim() {
  awaits_trim_ = false;
  ::malloc_trim(0);
}

// ---- lingering links ----

void Server::end_lingering() {
  linger_timer_ns_ = 0;
  if (auto ended = engine_.switches().end_lingering(); !ended)
    spdlog::warn("sites that nobody wants stay armed for longer: {}", ended.error().message);
  set_linger_timer();
}

void Server::set_linger_timer() {
  const uint64_t next = engine_.switches().next_linger_end_ns();
  if (!next || next == linger_timer_ns_) return;
  linger_timer_ns_ = next;
  if (auto set = lingering_.set(next); !set) spdlog::error("{}", set.error().message);
}

// ---- budgets ----

void Server::keep_budgets() {
  budget_timer_ns_ = 0;
  commands_.keep_budgets();
  set_budget_timer();
}

void Server::set_budget_timer() {
  const uint64_t next = engine_.budgets().next_look_ns();
  if (!next || next == budget_timer_ns_) return;
  budget_timer_ns_ = next;
  if (auto set = budgeting_.set(next); !set) spdlog::error("{}", set.error().message);
}

// ---- programs and libraries that come later ----

void Server::follow_programs() {
  follow_timer_ns_ = 0;
  commands_.follow_programs();
  set_follow_timer();
}

void Server::set_follow_timer() {
  const uint64_t next = engine_.following().next_ns();
  if (!next || next == follow_timer_ns_) return;
  follow_timer_ns_ = next;
  if (auto set = following_.set(next); !set) spdlog::error("{}", set.error().message);
}

// ---- dumps ----

void Server::dump_recorders(const std::string& reason) {
  commands_.dump_recorders(reason);
  look_after_dumps();
}

void Server::take_notices() {
  commands_.take_notices();
  look_after_dumps();
  set_follow_timer();
}

void Server::take_replaced() {
  engine_.awaiting().take_replaced();
  follow_programs();
}

void Server::dump_failed(const UnitFailure& failure) {
  commands_.dump_failed(failure);
  look_after_dumps();
}

void Server::look_after_dumps() {
  if (!commands_.look_after_dumps()) return;
  if (auto set = dumping_.set(boot_ns() + kDumpLookNs); !set)
    spdlog::error("{}", set.error().message);
}

// ---- events ----

void Server::pump_streams() {
  uint64_t count = 0;
  (void)!::read(wake_.get(), &count, sizeof(count));
  for (auto at = connections_.begin(); at != connections_.end();) {
    const auto next = std::next(at);
    if (!at->peer.subscriptions.empty()) settle(at);
    at = next;
  }
}

void Server::take_events(Connection& connection) {
  for (const auto& [session, sink] : connection.peer.subscriptions) {
    auto& stream = static_cast<ClientStream&>(*sink);
    const uint64_t before = stream.lost();
    stream.drain(connection.out);
    counts_.client_drops += stream.lost() - before;
  }
}

// After a client has taken data its streams have room for more.
void Server::note_sent(Connection& connection) {
  connection.answers = std::min(connection.answers, connection.unsent());
  for (const auto& [session, sink] : connection.peer.subscriptions)
    static_cast<ClientStream&>(*sink).set_unsent(connection.unsent());
}

// ---- sending ----

void Server::send(Connection& connection) {
  while (connection.sent < connection.out.size()) {
    const ssize_t count =
        ::send(connection.socket.get(), connection.out.data() + connection.sent,
               connection.out.size() - connection.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return note_sent(connection);
    if (count < 0) {
      connection.closing = true;
      break;
    }
    connection.sent += static_cast<size_t>(count);
  }
  connection.out.clear();
  if (connection.out.capacity() > kMostUnsentBytes) connection.out.shrink_to_fit();
  connection.sent = 0;
  note_sent(connection);
}

// For each session the unsent events of the subscriber that has most of them.
void Server::note_unsent() {
  std::map<std::string, uint64_t> unsent;
  for (const Connection& connection : connections_) {
    if (connection.closing || connection.out.empty()) continue;
    for (const auto& [session, events] :
         protocol::told_in(unsent_lines(connection.out, connection.sent)))
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
      send(connection);
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
std::shared_ptr<Server::UserTurns> Server::turns_of(uid_t user) const {
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
  const auto unsent = [&] { return connection.unsent(); };
  UserTurns& turns = *connection.turns;
  connection.awaits_turn = false;
  for (;;) {
    if (unsent() < kMostUnsentBytes) take_events(connection);
    send(connection);
    const bool waits = connection.awaits_answer() && !connection.awaits_turn_only();
    if (connection.closing || unsent() >= kMostUnsentBytes || waits) return;
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
  const auto unsent = [&] { return connection.unsent(); };
  answer_for_a_turn(connection);
  if (connection.closing) send(connection);  // the client can still read the reason
  set_follow_timer();
  set_linger_timer();
  set_budget_timer();
  const bool waits =
      connection.awaits_answer() || connection.awaits_turn || connection.receives_since_ns;
  const bool has_all = connection.ended && !waits && unsent() == 0;
  if (connection.closing || has_all) return drop(at);
  const bool wants_more = !connection.ended && !waits && unsent() < kMostUnsentBytes;
  const uint32_t events =
      (unsent() ? EventLoop::kWritable : 0u) | (wants_more ? EventLoop::kReadable : 0u);
  if (auto set = connection.watch.set_events(events); !set) drop(at);
}

}  // namespace tracectl
