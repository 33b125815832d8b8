// SPDX-License-Identifier: BSD-2-Clause
//
// Proves to the daemon which processes the kernel lets this user trace, by descriptors of their memory. A
// session of a user who may not trace every process sees only those.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "client/connection/backend.h"
#include "daemon/base/fd.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// At most `most`. Processes that the kernel refuses are left out: the daemon reports those that are missing.
std::vector<Fd> open_memories(const std::vector<pid_t>& processes,
                              size_t most = protocol::kMostProofsOfRequest);

// The processes that a target names: first by their numbers, then this user's processes that run its
// executables or are in its cgroups.
std::vector<pid_t> named_processes_of(const protocol::TargetPart& target);
// Also the processes that it could include later: all of this user, if the target is every process that maps
// a file.
std::vector<pid_t> processes_of(const protocol::TargetPart& target);

class Proofs {
 public:
  static constexpr int kEveryMs = 100;

  Proofs(Backend& backend, std::string session) : backend_(backend), session_(std::move(session)) {}

  // Makes no proofs for a user who may trace every process.
  Status prove(const std::vector<pid_t>& processes);
  // Proves the processes that were seen and left out since the last call. Call it every kEveryMs if
  // are_needed(), which the first call finds out.
  Status go_on();
  // Asks a last time what was left out.
  Status end();
  bool are_needed() const { return needed_; }
  // These processes, and those that were seen and left out since the last call.
  Result<protocol::ProveReply> prove_all(std::vector<pid_t> processes);
  const protocol::UnprovenPart& unproven() const { return unproven_; }

 private:
  using Clock = std::chrono::steady_clock;
  Result<protocol::ProveReply> ask(const std::vector<Fd>& memories);
  Result<protocol::ProveReply> prove_some(const std::vector<pid_t>& processes);

  Backend& backend_;
  std::string session_;
  bool needed_ = true;  // as far as is known
  protocol::UnprovenPart unproven_;
  Clock::time_point next_ = Clock::now();
};

}  // namespace tracectl
