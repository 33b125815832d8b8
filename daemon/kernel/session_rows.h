// SPDX-License-Identifier: BSD-2-Clause
//
// The kernel's door for sessions: what hits use of a session besides its hooks, and the accounts of users.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "bpf/abi.h"
#include "daemon/kernel/proofs.h"
#include "daemon/kernel/rooms.h"
#include "daemon/model/owner.h"

namespace tracectl {

// Only the control thread may call it. It borrows the memory that it shares with the programs, which write some of it.
// Nothing here can fail.
class SessionRows {
 public:
  // Memory shared with the programs, borrowed.
  struct Shared {
    std::span<tc_session> sessions;
    std::span<tc_account> accounts;
    std::span<tc_tag> tags;  // by session and number
    std::span<tc_room, TC_TABLES> rooms;
  };
  // `proofs` is borrowed.
  SessionRows(const Shared& shared, ProcessProofs& proofs);

  // Begins a session without marked threads or proven processes, and with a closed gate. `owner` is that of its
  // TC_OWNED hooks; `account` counts the events that its user's sessions stream, 0 if they are not counted.
  void begin(uint32_t session, const std::optional<Owner>& owner, uint32_t account);
  // As a former daemon may have left it.
  tc_session row(uint32_t session) const { return shared_.sessions[session]; }

  // ---- accounts ----
  // Reserves a share of each table that hits fill for this many users.
  void share_out(uint32_t users) { rooms_.share_out(users); }
  // `account`: 1 to TC_MAX_ACCOUNTS - 1.
  void begin_account(uint32_t account, uint64_t events_per_second);

  // ---- marks and tags of threads ----
  // From now on threads can be marked; none is at first.
  void begin_marks(uint32_t session);
  // Threads that could not be marked, or whose own tags are not shown, because memory was short.
  uint64_t marks_lost(uint32_t session) const;
  void write_tag(uint32_t session, uint32_t number, const std::string& tag);
  // The session's records and keys show the tags that programs give their own threads, unless they have another.
  void show_own_tags(uint32_t session);

  // ---- the gate ----
  // One atomic store; programs write the gate, too.
  void set_gate(uint32_t session, bool open);
  bool gate_is_open(uint32_t session) const;

 private:
  Shared shared_;
  Rooms rooms_;
  ProcessProofs& proofs_;
  uint32_t last_marks_ = 0;  // the greatest tc_session.marks so far
};

}  // namespace tracectl
