// SPDX-License-Identifier: BSD-2-Clause
//
// Each user's share of the tables whose places the engine hands out (daemon/model/shares.h). For tables that
// hits fill see bpf/shares.bpf.h.
#pragma once

#include "daemon/base/result.h"
#include "daemon/sessions/sessions.h"
#include "daemon/switching/switch.h"

namespace tracectl {

// Fails if the account may not have one more session. `users`: how many users have shares.
Status check_share_of_sessions(const Sessions& sessions, uint32_t account, uint32_t users);

// Fails if the switch would not leave everybody their shares of hooks (with which come sites and counters),
// hooks of pairs, specs with code, forms of arguments, and sets of processes. A user who has no more than before
// is not refused.
Status check_shares(const Sessions& sessions, const Switch& change, uint32_t users);

}  // namespace tracectl
