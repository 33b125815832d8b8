// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "daemon/protocol/messages/staging.h"

namespace tracectl {

// What probes take from the program, as the daemon estimates it.
struct HitNumbers {
  uint64_t sites = 0, slow_sites = 0;  // slow: the kernel single-steps there
  uint64_t exits = 0, slow_exits = 0;  // probes where followed calls end
  uint64_t hit_ns = 0;                 // of a hit, with the end of the call that it begins

  bool single_steps() const { return slow_sites || slow_exits; }
};

// "about 16.9 us a call: 3 of 4 exits are single-stepped".
std::string hit_estimate_text(const HitNumbers& hits);
// The same, empty if the kernel single-steps nowhere.
std::string hit_estimate_text(const protocol::CommitReply& reply);

}  // namespace tracectl
