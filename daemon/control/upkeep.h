// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "daemon/base/event_loop.h"
#include "daemon/base/result.h"
#include "daemon/control/commands.h"
#include "daemon/process/unit_failures.h"
#include "daemon/sessions/engine.h"

namespace tracectl {

// What the daemon does without being asked by a client: it disarms sites that have lingered, keeps budgets, follows
// programs, takes notices, makes dumps, gives memory back, and notes that it is alive. On the control thread's loop.
class Upkeep {
 public:
  // All are borrowed.
  static Result<std::unique_ptr<Upkeep>> start(EventLoop& loop, Engine& engine, Commands& commands);

  // To be called after any request: something may be due earlier than before.
  void set_timers();
  // Notes in the state of saved sessions that this daemon runs, now and every second from now on.
  void beat();
  // Arms programs that were executed in cgroups that sessions follow, and files that were mapped. Also to be called
  // when files have been read.
  void follow_programs();
  // To be called after dumps may have begun or gone on.
  void look_after_dumps();
  void dump_recorders(const std::string& reason);
  void dump_failed(const UnitFailure& failure);
  // To be called when a connection is gone: gives memory back to the system soon. The allocator would keep that of
  // its answers.
  void give_memory_back();

 private:
  // A timer for the time when something is due.
  struct Deadline {
    EventLoop::Timer timer;
    uint64_t set_to_ns = 0;  // 0: to nothing

    void set(uint64_t due_ns);  // 0: nothing is due
  };

  Upkeep(Engine& engine, Commands& commands) : engine_(engine), commands_(commands) {}
  Status watch(EventLoop& loop);
  Status make_timers(EventLoop& loop);
  void end_lingering();
  void keep_budgets();
  void follow();
  void take_notices();
  void take_replaced();
  void trim();

  Engine& engine_;
  Commands& commands_;
  EventLoop::Watch noticing_, replacing_;
  Deadline lingering_, budgeting_, following_;
  EventLoop::Timer dumping_, beating_, trimming_;
  bool awaits_trim_ = false;
};

}  // namespace tracectl
