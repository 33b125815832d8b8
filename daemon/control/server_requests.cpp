// SPDX-License-Identifier: BSD-2-Clause
//
// Requests of clients: made from bytes and descriptors, and answered at once or after they waited for files that
// are read, for events that are on their way, or for other commits.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/base/sent_fds.h"
#include "daemon/control/log.h"
#include "daemon/control/server.h"

namespace tracectl {
namespace {

constexpr uint64_t kReceivingPatienceNs = 5'000'000'000;
// Connections that are taken while the kernel works. Later ones wait in the listener's queue: those that have left
// meanwhile are noticed after the work only, and would count among kMostConnections.
constexpr size_t kMostTakenMeanwhile = 256;

// A request takes the descriptors that came for it, and needs them again if it is made again.
std::deque<Fd> copies_of(const std::deque<Fd>& descriptors) {
  std::deque<Fd> copies;
  for (const Fd& one : descriptors) copies.emplace_back(::fcntl(one.get(), F_DUPFD_CLOEXEC, 0));
  return copies;
}

Error too_many_descriptors() {
  return Error{Code::exhausted, "more descriptors came than requests that take one"};
}

}  // namespace

void Server::serve(Connections::iterator at, uint32_t events) {
  // The client is gone: its requests that have not begun are dropped.
  const bool waits = at->awaits_answer() || at->receives_since_ns;
  if (waits && (events & EPOLLHUP)) return drop(at);
  // Every other event means something to read: bytes, the end, or an error.
  if (events & ~EventLoop::kWritable) receive(*at);
  settle(at);
}

void Server::receive(Connection& connection) {
  if (connection.peer.owner) return receive_of_user(connection);
  char buffer[kReadBytes];
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))];
  iovec bytes{buffer, sizeof(buffer)};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t count = ::recvmsg(connection.socket.get(), &message, MSG_CMSG_CLOEXEC);
  if (count >= 0) take_descriptors(connection, sent_fds(message), message.msg_flags & MSG_CTRUNC);
  take_bytes(connection, buffer, count);
}

// `truncated`: more were sent than could be received.
void Server::take_descriptors(Connection& connection, std::vector<Fd> sent, bool truncated) {
  auto& all = connection.peer.descriptors;
  std::move(sent.begin(), sent.end(), std::back_inserter(all));
  if (truncated || all.size() > kMostDescriptors) connection.refuse(too_many_descriptors());
}

// `count`: as recvmsg(2) returns it.
void Server::take_bytes(Connection& connection, const char* bytes, ssize_t count) {
  if (count == 0) connection.ended = true;
  if (count < 0 && errno != EAGAIN && errno != EINTR) connection.closing = true;
  if (count > 0) feed(connection, {bytes, static_cast<size_t>(count)});
}

void Server::feed(Connection& connection, std::string_view bytes) {
  connection.in.feed(bytes);
  if (auto within = limits_.check_requests(connection.peer); !within)
    connection.refuse(within.error());
}

// ---- descriptors of users ----

// Bytes without descriptors are received here, but only those that were seen to come without.
void Server::receive_of_user(Connection& connection) {
  if (connection.receives_since_ns) return;
  char buffer[kReadBytes];
  const ComesNext next = look_ahead(connection.socket, buffer, sizeof(buffer));
  if (next.descriptors) return receive_elsewhere(connection);
  const ssize_t count = next.bytes > 0 ? ::recv(connection.socket.get(), buffer,
                                                static_cast<size_t>(next.bytes), MSG_DONTWAIT)
                                       : next.bytes;
  take_bytes(connection, buffer, count);
}

void Server::receive_elsewhere(Connection& connection) {
  auto asked = receiving_->receive(connection.number, connection.peer.uid, connection.socket);
  if (!asked) return connection.refuse(asked.error());
  connection.receives_since_ns = boot_ns();
  set_receiving_timer();
}

void Server::take_received() {
  for (Receiving::Received& received : receiving_->take()) {
    const auto at =
        std::find_if(connections_.begin(), connections_.end(),
                     [&](const Connection& one) { return one.number == received.connection; });
    if (at == connections_.end()) continue;
    take(*at, std::move(received));
    settle(at);
  }
}

void Server::take(Connection& connection, Receiving::Received received) {
  connection.receives_since_ns.reset();
  if (received.error) return connection.refuse(*received.error);
  take_descriptors(connection, std::move(received.descriptors), false);
  if (received.ended) connection.ended = true;
  feed(connection, received.bytes);
}

void Server::end_late_receiving() {
  const uint64_t late_ns = boot_ns() - kReceivingPatienceNs;
  for (auto at = connections_.begin(); at != connections_.end();) {
    const auto next = std::next(at);
    if (at->receives_since_ns && *at->receives_since_ns <= late_ns) {
      at->receives_since_ns.reset();
      at->refuse(Error{Code::busy,
                       "descriptors that user " + std::to_string(at->peer.uid) +
                           " has sent are still waited for: files of FUSE whose process does not "
                           "answer, or sockets that linger; none is taken until they are closed"});
      settle(at);
    }
    at = next;
  }
  set_receiving_timer();
}

void Server::set_receiving_timer() {
  std::optional<uint64_t> first_ns;
  for (const Connection& connection : connections_)
    if (const auto since_ns = connection.receives_since_ns)
      first_ns = std::min(first_ns.value_or(*since_ns), *since_ns);
  if (!first_ns) return;
  if (auto set = late_.set(*first_ns + kReceivingPatienceNs); !set)
    log_error("{}", set.error().message);
}

// False if no whole line has come, or a request waits.
bool Server::answer_next(Connection& connection) {
  if (connection.awaits_turn_only()) {
    auto request = std::move(*connection.put_aside);
    connection.put_aside.reset();
    return answer(connection, std::move(request));
  }
  if (connection.awaits_answer()) return false;
  const auto line = connection.in.next();
  if (!line) {
    connection.out += protocol::error_line({}, line.error());
    connection.closing = true;
  }
  if (!line || !*line) return false;
  ++counts_.requests;
  auto learned = std::make_shared<Learned>();
  learned->in_slices = true;
  return answer(connection, {std::string(**line), {}, std::move(learned)});
}

// False if the answer has to wait for more than the user's turn.
bool Server::answer(Connection& connection, PutAside request) {
  auto descriptors = copies_of(connection.peer.descriptors);
  engine_.resolver().begin(request.learned);
  answering_ = &connection;
  auto answer =
      dispatch(request.line, commands_, connection.peer, limits_.check_answers(connection.peer));
  answering_ = nullptr;
  const auto awaited = engine_.reading().awaited();
  const bool slice_was_over = engine_.resolver().end_slice();
  if (auto* reply = std::get_if<Reply>(&answer)) {
    if (reply->refused && (awaited || slice_was_over)) {
      connection.peer.descriptors = std::move(descriptors);
      request.awaited = awaited;
      request.matches = engine_.resolver().matches();
      connection.put_aside = std::move(request);
      return !awaited;
    }
    put(connection, *reply);
    return true;
  }
  if (auto* unwritten = std::get_if<Unwritten>(&answer)) {
    connection.writing = engine_.resolver().matches();
    writer_->write(connection.number, connection.peer.uid, std::move(unwritten->write));
    return false;
  }
  if (auto* flush = std::get_if<AskedFlush>(&answer))
    return await_flush(connection, std::move(*flush));
  connection.commit = std::move(std::get<AskedCommit>(answer));
  committing_.ask();
  return false;
}

// ---- while the kernel works ----

// The engine is in the middle of a change, so only requests for the status are answered.
void Server::answer_meanwhile(int done_fd) {
  std::vector<Connection*> asking = idle();
  int listening = listening_fd_;
  size_t taken = 0;
  for (;;) {
    std::vector<pollfd> awaited{{done_fd, POLLIN, 0}, {listening, POLLIN, 0}};
    for (const Connection* one : asking) awaited.push_back({one->socket.get(), POLLIN, 0});
    if (::poll(awaited.data(), awaited.size(), -1) < 0 && errno != EINTR) return;
    if (awaited[0].revents) return;
    std::vector<Connection*> still_asking;
    for (size_t i = 0; i < asking.size(); ++i)
      if (!awaited[i + 2].revents || answer_status(*asking[i])) still_asking.push_back(asking[i]);
    asking = std::move(still_asking);
    if (!awaited[1].revents) continue;
    const size_t before = connections_.size();
    accept_one();
    const bool is_taken = connections_.size() > before;
    if (is_taken) asking.push_back(&connections_.back());
    if (!is_taken || ++taken == kMostTakenMeanwhile) listening = -1;  // the others wait
  }
}

// The connections that wait for nothing and are not being answered.
std::vector<Connection*> Server::idle() {
  std::vector<Connection*> found;
  for (Connection& one : connections_) {
    const bool ends = one.ended || one.closing;
    if (!one.awaits_anything() && !ends && &one != answering_ && one.in.size() == 0 &&
        one.unsent() == 0)
      found.push_back(&one);
  }
  return found;
}

// False if the connection's next request is not for the status; it stays unread then. It also stays unread if
// memory runs out: no memory is allocated after reading it.
bool Server::answer_status(Connection& connection) {
  char buffer[kMostStatusBytes];
  const ComesNext next = look_ahead(connection.socket, buffer, sizeof(buffer));
  if (next.bytes <= 0 || next.descriptors) return false;
  const std::string_view come{buffer, static_cast<size_t>(next.bytes)};
  const size_t end = come.find('\n');
  if (end == come.npos || !asks_for_status(come.substr(0, end))) return false;
  const auto answer = dispatch(come.substr(0, end), commands_, connection.peer, ok());
  const Reply& reply = std::get<Reply>(answer);
  connection.out.reserve(reply.line.size());
  if (::recv(connection.socket.get(), buffer, end + 1, MSG_DONTWAIT) !=
      static_cast<ssize_t>(end + 1))
    return false;
  ++counts_.requests;
  counts_.refused_requests += reply.refused;
  connection.out += reply.line;
  connection.send();
  if (connection.unsent() == 0 && !connection.closing) return true;
  await_turn(connection);
  return false;
}

// Events that came before the answer are sent before it, as the answer to a flush promises.
void Server::put(Connection& connection, const Reply& reply) {
  counts_.refused_requests += reply.refused;
  // No other request may take the descriptors that came for a refused one.
  if (reply.refused) connection.peer.descriptors.clear();
  take_events(connection);
  connection.out += reply.line;
  connection.answers += reply.line.size();
}

// The data of an answer is freed here, in the control thread: it may own descriptors of files.
void Server::take_written() {
  for (AnswerWriter::Written& written : writer_->take()) {
    const auto at =
        std::find_if(connections_.begin(), connections_.end(),
                     [&](const Connection& one) { return one.number == written.connection; });
    if (at == connections_.end()) continue;
    at->writing.reset();
    put(*at, written.reply);
    settle(at);
  }
}

// ---- flushes ----

// False if the answer has to wait.
bool Server::await_flush(Connection& connection, AskedFlush asked) {
  const auto asked_ns = engine_.streams().ask_flush(asked.request.session);
  if (!asked_ns) {
    put(connection, reply_to(asked, asked_ns.error()));
    return true;
  }
  connection.flush = AwaitedFlush{std::move(asked), *asked_ns};
  return answer_flush(connection);
}

bool Server::answer_flush(Connection& connection) {
  const auto& [asked, asked_ns] = *connection.flush;
  const auto flushed = engine_.streams().is_flushed(asked.request.session, asked_ns);
  if (!flushed)
    put(connection, reply_to(asked, flushed.error()));
  else if (*flushed)
    put(connection, reply_to(asked, protocol::FlushReply{asked_ns}));
  else
    return false;
  connection.flush.reset();
  return true;
}

void Server::take_flushed() {
  uint64_t count = 0;
  (void)!::read(engine_.streams().flushed_fd(), &count, sizeof(count));
  for (auto at = connections_.begin(); at != connections_.end();) {
    const auto next = std::next(at);
    if (at->flush && answer_flush(*at)) settle(at);
    at = next;
  }
  upkeep_->look_after_dumps();
}

// ---- commits ----

// Runs after everything that has come by now has been read, so commits that came together, or during another
// one, are done together.
void Server::commit_asked() {
  std::vector<Connections::iterator> asking;
  std::vector<Commands::CommitRequestOf> requests;
  for (auto at = connections_.begin(); at != connections_.end(); ++at) {
    if (!at->commit || at->commit_awaits) continue;
    asking.push_back(at);
    requests.push_back({&at->commit->request, &at->peer});
  }
  if (asking.empty()) return;
  if (!commits_learned_) commits_learned_ = std::make_shared<Learned>();
  engine_.resolver().begin(commits_learned_);
  const auto done = commands_.commit(requests);
  const auto awaited = engine_.reading().awaited();
  if (!awaited) commits_learned_.reset();
  for (size_t i = 0; i < asking.size(); ++i) {
    if (!done[i] && awaited) {
      asking[i]->commit_awaits = awaited;
      settle(asking[i]);
      continue;
    }
    put(*asking[i], reply_to(*asking[i]->commit, done[i]));
    asking[i]->commit.reset();
    settle(asking[i]);
  }
}

// ---- files ----

// Repeats the requests that waited for the files that have been read now.
void Server::take_read() {
  Reading& reading = engine_.reading();
  reading.take_answers();
  bool any_commit = false;
  for (auto at = connections_.begin(); at != connections_.end();) {
    const auto next = std::next(at);
    if (at->commit_awaits && reading.is_answered(*at->commit_awaits)) {
      at->commit_awaits.reset();
      any_commit = true;
    }
    if (at->put_aside && at->put_aside->awaited && reading.is_answered(*at->put_aside->awaited)) {
      at->put_aside->awaited.reset();
      settle(at);
    }
    at = next;
  }
  if (any_commit) committing_.ask();
  upkeep_->follow_programs();
}

}  // namespace tracectl
