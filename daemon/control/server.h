// SPDX-License-Identifier: BSD-2-Clause
//
// The socket server: it accepts clients, and ends their connections. Runs on the control thread's loop; a client that
// reads slowly or sends nothing does not delay others. What clients send is in intake.h, how their requests are
// answered in requests.h and turns.h, and how they get events in subscriptions.h.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "daemon/base/event_loop.h"
#include "daemon/base/fd.h"
#include "daemon/control/client_limits.h"
#include "daemon/control/commands.h"
#include "daemon/control/connection.h"
#include "daemon/control/intake.h"
#include "daemon/control/requests.h"
#include "daemon/control/rights.h"
#include "daemon/control/status_meanwhile.h"
#include "daemon/control/subscriptions.h"
#include "daemon/control/turns.h"
#include "daemon/control/upkeep.h"
#include "daemon/process/unit_failures.h"

namespace tracectl {

class Server {
 public:
  // `listening_fd`, the loop and the store are borrowed. `store`: keeps what outlives the process; null: nothing does.
  static Result<std::unique_ptr<Server>> start(EventLoop& loop, int listening_fd, Engine& engine,
                                               DumpFolder dumps, DescriptorStore* store);
  ~Server();

  // To be called before the loop runs: restores the sessions that the previous daemon left, and begins those in
  // the folder (session_files.h).
  void begin_saved(const std::string& folder);

  // To be called when the reading of events has ended: sends the last events to the clients.
  void send_rest() { subscriptions_->send_rest(); }

  // Dumps all flight recorders to files in the folder.
  void dump_recorders(const std::string& reason) { upkeep_->dump_recorders(reason); }

 private:
  Server(EventLoop& loop, int listening_fd, Engine& engine, DumpFolder dumps,
         DescriptorStore* store, const Privileged& privileged);
  Status make_parts();
  Status watch();
  ClientConnection* accept_one();
  void turn_away();
  Status add(Fd& socket);
  void serve(Connections::iterator at, uint32_t events);
  void settle(Connections::iterator at);
  void drop(Connections::iterator at);
  void take_read();
  void take_flushed();

  EventLoop& loop_;
  const int listening_fd_;
  Engine& engine_;
  const Privileged privileged_;
  ServerCounts counts_;
  UnitFailures units_;
  Commands commands_;
  Fd spare_;  // closed to accept a client when no descriptor is left
  Connections connections_;
  const ClientLimits limits_;
  uint64_t last_connection_ = 0;  // its number
  std::unique_ptr<Intake> intake_;
  std::unique_ptr<Requests> requests_;
  std::unique_ptr<Turns> turns_;
  std::unique_ptr<Subscriptions> subscriptions_;
  std::unique_ptr<Upkeep> upkeep_;
  std::optional<StatusMeanwhile> meanwhile_;
  EventLoop::Watch listening_, reading_, flushed_;
};

}  // namespace tracectl
