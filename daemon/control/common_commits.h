// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "daemon/base/event_loop.h"
#include "daemon/base/result.h"
#include "daemon/control/commands.h"
#include "daemon/control/connection.h"

namespace tracectl {

// Commits that clients have requested. Those that came together, or during another one, are done together.
class CommonCommits {
 public:
  // All are borrowed.
  static Result<std::unique_ptr<CommonCommits>> start(EventLoop& loop, Engine& engine,
                                                      Commands& commands, Connections& connections,
                                                      ServerCounts& counts, Settle settle);

  // The connection is settled when the commit is done.
  void add(ClientConnection& connection, AskedCommit asked);
  // To be called when files have been read: repeats the commits that waited for them.
  void take_read();

 private:
  CommonCommits(Engine& engine, Commands& commands, Connections& connections, ServerCounts& counts,
                Settle settle)
      : engine_(engine),
        commands_(commands),
        connections_(connections),
        counts_(counts),
        settle_(std::move(settle)) {}
  void commit();

  Engine& engine_;
  Commands& commands_;
  Connections& connections_;
  ServerCounts& counts_;
  const Settle settle_;
  std::shared_ptr<Learned> learned_;  // by commits that wait for files
  EventLoop::Later committing_;
};

}  // namespace tracectl
