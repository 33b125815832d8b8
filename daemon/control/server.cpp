// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "daemon/control/log.h"
#include "daemon/control/session_files.h"

namespace tracectl {
namespace {

constexpr size_t kMostConnections = 2048;

void report_unwatched(const Error& why) {
  log_warning(
      "failures of units are not seen: {}; making a session that is dumped on one tries "
      "again",
      why.message);
}

}  // namespace

Server::Server(EventLoop& loop, int listening_fd, Engine& engine, DumpFolder dumps,
               DescriptorStore* store, const Privileged& privileged)
    : loop_(loop),
      listening_fd_(listening_fd),
      engine_(engine),
      privileged_(privileged),
      units_(
          loop, [this](const UnitFailure& failure) { upkeep_->dump_failed(failure); },
          report_unwatched),
      commands_(engine, counts_, FlightRecorders::Unasked{std::move(dumps), units_}, store),
      spare_(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
      limits_(connections_, engine.options().quota) {}

Server::~Server() {
  commands_.saved().beat();
  meanwhile_.reset();
  while (!connections_.empty()) drop(connections_.begin());
}

Result<std::unique_ptr<Server>> Server::start(EventLoop& loop, int listening_fd, Engine& engine,
                                              DumpFolder dumps, DescriptorStore* store) {
  const auto privileged = Privileged::of_this_process();
  if (!privileged) return privileged.error();
  std::unique_ptr<Server> server{
      new Server(loop, listening_fd, engine, std::move(dumps), store, *privileged)};
  if (auto made = server->make_parts(); !made) return made.error();
  if (auto watching = server->watch(); !watching) return watching.error();
  return server;
}

Status Server::make_parts() {
  const Settle settle = [this](Connections::iterator at) { this->settle(at); };
  if (auto made = assign(intake_, Intake::start(loop_, connections_, limits_, settle)); !made)
    return made;
  if (auto made = assign(requests_, Requests::start(loop_, engine_, commands_, connections_,
                                                    limits_, counts_, settle));
      !made)
    return made;
  if (auto made = assign(turns_, Turns::start(loop_, connections_, *requests_, counts_, settle));
      !made)
    return made;
  if (auto made = assign(subscriptions_, Subscriptions::start(loop_, engine_, connections_, limits_,
                                                              counts_, settle));
      !made)
    return made;
  return assign(upkeep_, Upkeep::start(loop_, engine_, commands_));
}

Status Server::watch() {
  struct Watched {
    EventLoop::Watch& watch;
    int fd;  // -1: nothing to watch
    std::function<void()> callback;
  };
  for (const Watched& one :
       {Watched{listening_, listening_fd_, [this] { accept_one(); }},
        Watched{reading_, engine_.reading().fd(), [this] { take_read(); }},
        Watched{flushed_, engine_.streams().flushed_fd(), [this] { take_flushed(); }}}) {
    if (one.fd < 0) continue;
    auto made = assign(one.watch, loop_.watch(one.fd, EventLoop::kReadable,
                                              [call = one.callback](uint32_t) { call(); }));
    if (!made) return made;
  }
  return ok();
}

void Server::begin_saved(const std::string& folder) {
  begin_sessions(folder, engine_, commands_);
  upkeep_->set_timers();
  upkeep_->beat();
  meanwhile_.emplace(engine_, commands_, connections_, *requests_, *turns_, counts_,
                     StatusMeanwhile::Listening{listening_fd_, [this] { return accept_one(); }});
}

// ---- accepting ----

// Null if no client is accepted.
ClientConnection* Server::accept_one() {
  Fd socket{::accept4(listening_fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
  if (!socket) {
    if (errno == EMFILE || errno == ENFILE) turn_away();
    return nullptr;
  }
  if (connections_.size() == kMostConnections) {
    log_warning("refused a client: there are {} already", kMostConnections);
    intake_->let_go(std::move(socket));
    return nullptr;
  }
  if (auto added = add(socket); !added) {
    log_warning("refused a client: {}", added.error().message);
    intake_->let_go(std::move(socket));
    return nullptr;
  }
  return &connections_.back();
}

// No descriptor is left for the new client. If it kept waiting, the loop would wake for it again and again, so
// the spare descriptor is closed to accept the connection and close it.
void Server::turn_away() {
  spare_ = Fd{};
  Fd socket{::accept4(listening_fd_, nullptr, nullptr, SOCK_CLOEXEC)};
  const bool came = socket.get() >= 0;
  intake_->let_go(std::move(socket));
  spare_ = Fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  if (came) log_warning("refused a client: too many files are open");
}

// Takes the socket unless it fails.
Status Server::add(Fd& socket) {
  const auto identity = identify_peer(socket.get());
  if (!identity) return identity.error();
  const auto owner = owner_of(*identity, privileged_);
  if (auto within =
          limits_.check_connections(identity->uid, owner, intake_->let_go_of(identity->uid));
      !within)
    return within;
  const auto at = connections_.emplace(connections_.end());
  at->number = ++last_connection_;
  at->socket = std::move(socket);
  at->peer.uid = identity->uid;
  at->peer.pid = identity->pid;
  at->peer.owner = owner;
  at->turns = turns_->of(identity->uid);
  at->peer.make_sink = [this, at](const protocol::SessionSubscribe& asked) {
    return subscriptions_->make_stream(asked, at->peer);
  };
  at->peer.take_rest = [this, at] { at->take_all_events(counts_); };
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

// ---- connections ----

void Server::serve(Connections::iterator at, uint32_t events) {
  // The client is gone: its requests that have not begun are dropped.
  const bool waits = at->awaits_answer() || at->receives_since_ns;
  if (waits && (events & EPOLLHUP)) return drop(at);
  // Every other event means something to read: bytes, the end, or an error.
  if (events & ~EventLoop::kWritable) intake_->receive(*at);
  settle(at);
}

void Server::settle(Connections::iterator at) {
  ClientConnection& connection = *at;
  turns_->answer(connection);
  if (connection.closing) connection.send();  // the client can still read the reason
  upkeep_->set_timers();
  const bool waits = connection.awaits_anything();
  const bool has_to_send = connection.has_to_send();
  const bool has_all = connection.ended && !waits && !has_to_send;
  if (connection.closing || has_all) return drop(at);
  const bool wants_more = !connection.ended && !waits && !connection.is_full_of_answers();
  const uint32_t events =
      (has_to_send ? EventLoop::kWritable : 0u) | (wants_more ? EventLoop::kReadable : 0u);
  if (auto set = connection.watch.set_events(events); !set) drop(at);
}

void Server::drop(Connections::iterator at) {
  requests_->give_up(*at);
  at->closing = true;
  commands_.sessions().leave(at->peer);
  at->watch = {};
  if (at->peer.owner) intake_->let_go(std::move(at->socket));
  connections_.erase(at);
  --counts_.clients;
  upkeep_->give_memory_back();
}

// ---- what the engine has done ----

void Server::take_read() {
  requests_->take_read();
  upkeep_->follow_programs();
}

void Server::take_flushed() {
  requests_->take_flushed();
  upkeep_->look_after_dumps();
}

}  // namespace tracectl
