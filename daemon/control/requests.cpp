// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/requests.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>
#include <variant>

#include "daemon/control/dispatch.h"

namespace tracectl {
namespace {

// A request takes the descriptors that came for it, and needs them again if it is made again.
std::deque<Fd> copies_of(const std::deque<Fd>& descriptors) {
  std::deque<Fd> copies;
  for (const Fd& one : descriptors) copies.emplace_back(::fcntl(one.get(), F_DUPFD_CLOEXEC, 0));
  return copies;
}

}  // namespace

Result<std::unique_ptr<Requests>> Requests::start(EventLoop& loop, Engine& engine,
                                                  Commands& commands, Connections& connections,
                                                  const ClientLimits& limits, ServerCounts& counts,
                                                  Settle settle) {
  auto writer = AnswerWriter::start();
  if (!writer) return writer.error();
  auto commits = CommonCommits::start(loop, engine, commands, connections, counts, settle);
  if (!commits) return commits.error();
  std::unique_ptr<Requests> requests{new Requests(engine, commands, connections, limits, counts,
                                                  std::move(settle), std::move(*writer),
                                                  std::move(*commits))};
  auto watching = assign(requests->writing_,
                         loop.watch(requests->writer_->fd(), EventLoop::kReadable,
                                    [all = requests.get()](uint32_t) { all->take_written(); }));
  if (!watching) return watching.error();
  return requests;
}

bool Requests::answer_next(ClientConnection& connection) {
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
bool Requests::answer(ClientConnection& connection, PutAside request) {
  auto descriptors = copies_of(connection.peer.descriptors);
  engine_.resolver().begin(request.learned);
  answering_ = &connection;
  auto answer =
      dispatch(request.line, commands_, connection.peer, limits_.check_answers(connection.peer));
  answering_ = nullptr;
  request.awaited = engine_.reading().awaited();
  const bool slice_was_over = engine_.resolver().end_slice();
  if (auto* reply = std::get_if<Reply>(&answer)) {
    if (reply->refused && (request.awaited || slice_was_over))
      return put_aside(connection, std::move(request), std::move(descriptors));
    connection.put(*reply, counts_);
    return true;
  }
  if (auto* unwritten = std::get_if<Unwritten>(&answer)) {
    connection.writing = engine_.resolver().matches();
    writer_->write(connection.number, connection.peer.uid, std::move(unwritten->write));
    return false;
  }
  if (auto* flush = std::get_if<AskedFlush>(&answer))
    return await_flush(connection, std::move(*flush));
  commits_->add(connection, std::move(std::get<AskedCommit>(answer)));
  return false;
}

// False if the request waits for a file.
bool Requests::put_aside(ClientConnection& connection, PutAside request,
                         std::deque<Fd> descriptors) {
  connection.peer.descriptors = std::move(descriptors);
  request.matches = engine_.resolver().matches();
  connection.put_aside = std::move(request);
  return !connection.put_aside->awaited;
}

void Requests::take_read() {
  Reading& reading = engine_.reading();
  reading.take_answers();
  commits_->take_read();
  for_each(connections_, [&](Connections::iterator at) {
    if (!at->put_aside || !at->put_aside->awaited || !reading.is_answered(*at->put_aside->awaited))
      return;
    at->put_aside->awaited.reset();
    settle_(at);
  });
}

void Requests::give_up(const ClientConnection& connection) {
  if (connection.put_aside && connection.put_aside->awaited)
    engine_.reading().give_up(*connection.put_aside->awaited);
  if (connection.commit_awaits) engine_.reading().give_up(*connection.commit_awaits);
}

// The data of an answer is freed here, in the control thread: it may own descriptors of files.
void Requests::take_written() {
  for (AnswerWriter::Written& written : writer_->take()) {
    const auto at = find(connections_, written.connection);
    if (at == connections_.end()) continue;
    at->writing.reset();
    at->put(written.reply, counts_);
    settle_(at);
  }
}

// ---- flushes ----

// False if the answer has to wait.
bool Requests::await_flush(ClientConnection& connection, AskedFlush asked) {
  const auto asked_ns = engine_.streams().ask_flush(asked.request.session);
  if (!asked_ns) {
    connection.put(reply_to(asked, asked_ns.error()), counts_);
    return true;
  }
  connection.flush = AwaitedFlush{std::move(asked), *asked_ns};
  return answer_flush(connection);
}

bool Requests::answer_flush(ClientConnection& connection) {
  const auto& [asked, asked_ns] = *connection.flush;
  const auto flushed = engine_.streams().is_flushed(asked.request.session, asked_ns);
  if (flushed && !*flushed) return false;
  connection.take_all_events(counts_);
  connection.put(
      flushed ? reply_to(asked, protocol::FlushReply{asked_ns}) : reply_to(asked, flushed.error()),
      counts_);
  connection.flush.reset();
  return true;
}

void Requests::take_flushed() {
  uint64_t count = 0;
  (void)!::read(engine_.streams().flushed_fd(), &count, sizeof(count));
  for_each(connections_, [&](Connections::iterator at) {
    if (at->flush && answer_flush(*at)) settle_(at);
  });
}

}  // namespace tracectl
