// SPDX-License-Identifier: BSD-2-Clause
//
// Shows the daemon which processes the kernel lets this user trace, by descriptors of their memory. Of a user who may
// not trace every process a session sees no others.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "client/backend.h"
#include "daemon/base/fd.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// At most so many. What the kernel refuses is left out: the daemon says what it
// misses.
std::vector<Fd> open_memories(const std::vector<pid_t>& processes,
                              size_t most = protocol::kMostProofsOfRequest);
std::vector<int> numbers_of(const std::vector<Fd>& files);

// What a target names: processes by their numbers first, and this user's processes that run its executables or are in its
// cgroups.
std::vector<pid_t> named_processes_of(const protocol::TargetPart& target);
// And what it may come to mean, which is all processes of this user where it is for whoever maps a file.
std::vector<pid_t> processes_of(const protocol::TargetPart& target);

class Proofs {
 public:
  static constexpr int kEveryMs = 100;

  Proofs(Backend& backend, std::string session) : backend_(backend), session_(std::move(session)) {}

  // Of one whose user may trace every process no proof is needed, and none is made.
  Status prove(const std::vector<pid_t>& processes);
  // Proves what was seen and left out since the last time; to be called every kEveryMs where proofs are needed, which
  // the first call finds out.
  Status go_on();
  // The last look at what was left out.
  Status end();
  bool are_needed() const { return needed_; }
  // These, and what was seen and left out since the last time.
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
