// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "daemon/base/event_loop.h"
#include "daemon/base/result.h"
#include "daemon/control/answer_writer.h"
#include "daemon/control/client_limits.h"
#include "daemon/control/commands.h"
#include "daemon/control/common_commits.h"
#include "daemon/control/connection.h"

namespace tracectl {

// The requests of connections: answered at once, or after files have been read, events have come, a long answer has
// been written, or other commits have been done.
class Requests {
 public:
  // All are borrowed.
  static Result<std::unique_ptr<Requests>> start(EventLoop& loop, Engine& engine,
                                                 Commands& commands, Connections& connections,
                                                 const ClientLimits& limits, ServerCounts& counts,
                                                 Settle settle);

  // Answers the connection's next request. False if no whole line has come, or a request waits for more than its
  // user's turn.
  bool answer_next(ClientConnection& connection);
  bool is_answering(const ClientConnection& connection) const { return answering_ == &connection; }
  // To be called when files have been read: repeats the requests that waited for them.
  void take_read();
  // To be called when events have been handed over as far as flushes asked.
  void take_flushed();
  // To be called before the connection is dropped.
  void give_up(const ClientConnection& connection);

 private:
  Requests(Engine& engine, Commands& commands, Connections& connections, const ClientLimits& limits,
           ServerCounts& counts, Settle settle, std::unique_ptr<AnswerWriter> writer,
           std::unique_ptr<CommonCommits> commits)
      : engine_(engine),
        commands_(commands),
        connections_(connections),
        limits_(limits),
        counts_(counts),
        settle_(std::move(settle)),
        writer_(std::move(writer)),
        commits_(std::move(commits)) {}
  bool answer(ClientConnection& connection, PutAside request);
  bool put_aside(ClientConnection& connection, PutAside request, std::deque<Fd> descriptors);
  void take_written();
  bool await_flush(ClientConnection& connection, AskedFlush asked);
  bool answer_flush(ClientConnection& connection);

  Engine& engine_;
  Commands& commands_;
  Connections& connections_;
  const ClientLimits& limits_;
  ServerCounts& counts_;
  const Settle settle_;
  const std::unique_ptr<AnswerWriter> writer_;
  const std::unique_ptr<CommonCommits> commits_;
  EventLoop::Watch writing_;
  const ClientConnection* answering_ = nullptr;  // whose request is being done
};

}  // namespace tracectl
