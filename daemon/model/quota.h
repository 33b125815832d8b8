// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "daemon/base/result.h"

namespace tracectl {

// Bytes that there would be of one kind, with what is asked for.
struct MemoryWanted {
  size_t of_user = 0;
  size_t of_all = 0;  // of all users who may not trace every process
};

// CPUs that this machine can have: a session with events has a ring for each.
unsigned possible_cpus();
// Bytes of each of these rings: the greatest power of two, from 64 KiB to 8 MiB, with which all of them have 16 MiB at
// most.
size_t default_ring_bytes(unsigned cpus);

// What one user may have of the daemon who may not trace every process: in all sessions together.
struct Quota {
  size_t sessions = 16;
  size_t settings = 1000;                // in force or staged
  size_t sites = 20'000;                 // a site counts for each session that has it
  size_t ring_bytes = 256 << 20;         // of all CPUs; as much again for flight recorders
  size_t stream_bytes = 256 << 20;       // for its clients; as much again for its recordings
  size_t kept = 1024;                    // descriptors that outlive the daemon for saved sessions
  uint64_t events_per_second = 500'000;  // streamed; those beyond are lost, and counted as such
  size_t patterns = 1000;                // of one request
  size_t matches = 50'000;  // of one request's patterns, in all files and processes together
  uint64_t recording_bytes = uint64_t{16} << 30;  // of each recording, all its files together
  size_t users = 2;  // who have all the memory they may have: all users together have no more

  size_t of_all(size_t bytes_of_one) const;
  // Users with sessions at one time: each has a share of every table (daemon/model/shares.h).
  size_t most_users = 15;

  // Fails with Code::exhausted.
  Status check_memory(const std::string& what, const MemoryWanted& wanted,
                      size_t most_of_one) const;
};

}  // namespace tracectl
