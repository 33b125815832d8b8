// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/base/id_pool.h"
#include "daemon/base/result.h"
#include "daemon/kernel/session_rows.h"
#include "daemon/kernel/switching.h"
#include "daemon/model/owner.h"
#include "daemon/model/quota.h"
#include "daemon/sessions/intent.h"
#include "daemon/sessions/saving.h"
#include "daemon/sessions/sessions.h"

namespace tracectl {

// The bounds on all sessions of one user who may not trace every process, and the users' accounts. Every check fails
// with Code::exhausted, and passes for sessions without an owner.
class Quotas {
 public:
  // All but the quota and the numbers are borrowed. `cpu_count`: as in Kernel; `ring_bytes`: of each CPU and session.
  Quotas(Switching& switching, SessionRows& rows, unsigned cpu_count, Slots& slots,
         const Sessions& sessions, const Saving& saving, const Quota& quota, size_t ring_bytes);

  // Whether the user may have one more session.
  Status check_sessions(const std::optional<Owner>& owner) const;
  // Whether the account may have one more session.
  Status check_share_of_sessions(uint32_t account) const;
  // Whether the session may have so many settings.
  Status check_settings(const Session& session, size_t settings) const;
  // Checks commits that come into force together: each may be within the quota when their sum is not.
  Status check_sites(std::span<const Intent> intents) const;
  // Whether the session, which has no rings yet, may have rings.
  Status check_rings(const Session& session) const;
  // Whether the planned switch leaves everybody their shares of the tables.
  Status check_shares(const Switch& change) const;
  // Whether what outlives the daemon stays within the quota after the switch, which is built. Checks only users whose
  // sessions the switch changes: nobody is refused for what another user has.
  Status check_saved(const Switch& change) const;
  // Whether the session may have one more file.
  Status check_saved_file(const Session& session) const;

  // Reserves the shares of the tables that hits fill.
  void share_out();
  // A user has one account for all its sessions. It is given back with the last session.
  Result<uint32_t> take_account(const std::optional<Owner>& owner);
  // Takes accounts that a former daemon has given, before any other is taken.
  void take_accounts(std::vector<uint32_t> accounts) { accounts_.restore(std::move(accounts)); }
  // Call it after the session is gone.
  void give_back_account(uint32_t account);

 private:
  // The sum over the user's sessions.
  template <class Count> size_t sum_of_user(uid_t user, const Session* but, Count count) const;
  MemoryWanted rings_wanted(const Session& session) const;
  size_t saved_of_user(uid_t user, const Switch* change) const;

  Switching& switching_;
  SessionRows& rows_;
  const unsigned cpu_count_;
  Slots& slots_;
  const Sessions& sessions_;
  const Saving& saving_;
  const Quota quota_;
  const size_t ring_bytes_;
  IdPool accounts_{1, TC_MAX_ACCOUNTS};
};

}  // namespace tracectl
