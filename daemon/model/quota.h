// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "daemon/base/result.h"

namespace tracectl {

// Bytes of one kind that would be in use if the request were granted.
struct MemoryWanted {
  size_t of_user = 0;
  size_t of_all = 0;  // of all users who may not trace every process
};

// The number of CPUs that this machine can have. A session with events has a ring for each.
unsigned possible_cpus();
// The default size of one of these rings in bytes: the greatest power of two, from 64 KiB to 8 MiB,
// with which all of them together have at most 16 MiB.
size_t default_ring_bytes(unsigned cpus);

// The limits of one user who may not trace every process, over all sessions together.
struct Quota {
  size_t sessions = 16;
  size_t settings = 1000;                // in force or staged
  size_t sites = 20'000;                 // a site counts for each session that has it
  size_t ring_bytes = 256 << 20;         // of all CPUs; the same again for flight recorders
  size_t stream_bytes = 256 << 20;       // for its clients; the same again for its recordings
  size_t kept = 1024;                    // descriptors that outlive the daemon for saved sessions
  uint64_t events_per_second = 500'000;  // streamed; more are lost, and counted as lost
  size_t patterns = 1000;                // in one request
  size_t matches = 50'000;  // of the patterns of one request, in all files and processes
  uint64_t recording_bytes = uint64_t{16} << 30;  // of each recording, all its files
  size_t users = 2;  // with full memory: the limit for all users together

  size_t of_all(size_t bytes_of_one) const;
  // Users with sessions at the same time: each has a share of every table (daemon/model/shares.h).
  size_t most_users = 15;

  // Fails with Code::exhausted.
  Status check_memory(const std::string& what, const MemoryWanted& wanted,
                      size_t most_of_one) const;
};

}  // namespace tracectl
