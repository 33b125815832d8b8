// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tracectl {

// What one user may have of the daemon who may not trace every process: in all sessions together.
struct Quota {
  size_t sessions = 16;
  size_t settings = 1000;                // in force or staged
  size_t sites = 20'000;                 // a site counts for each session that has it
  size_t ring_bytes = 256 << 20;         // of all CPUs
  uint64_t events_per_second = 500'000;  // streamed; those beyond are lost, and counted as such
};

}  // namespace tracectl
