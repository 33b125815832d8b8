// SPDX-License-Identifier: BSD-2-Clause
//
// Each user's share of the tables whose places the engine hands out (daemon/model/shares.h). Of those that hits
// fill: bpf/shares.bpf.h.
#pragma once

#include <map>
#include <string>

#include "daemon/base/result.h"
#include "daemon/switching/session.h"
#include "daemon/switching/switch.h"

namespace tracectl {

// Whether there may be one session more of this account, where `users` have shares.
Status check_share_of_sessions(const std::map<std::string, Session>& sessions, uint32_t account,
                               uint32_t users);

// Whether what the switch brings about leaves everybody their shares: hooks, with which come sites and counters, those
// of pairs, specs with code, forms of arguments, and sets of processes. A user who has no more than before is not refused.
Status check_shares(const std::map<std::string, Session>& sessions, const Switch& change,
                    uint32_t users);

}  // namespace tracectl
