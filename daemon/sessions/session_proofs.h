// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/kernel/proofs.h"
#include "daemon/sessions/sessions.h"

namespace tracectl {

// The processes that the sessions of users see: a client has proven that the kernel lets it trace them.
class SessionProofs {
 public:
  // Both are borrowed.
  SessionProofs(ProcessProofs& proofs, Sessions& sessions) : proofs_(proofs), sessions_(sessions) {}

  // Returns which of these descriptors of a client prove that it may see a process; as ProcessProofs::prove().
  Result<std::vector<ProvenMemory>> prove(std::span<const int> descriptors) {
    return proofs_.prove(descriptors, std::nullopt);
  }

  struct Proven {
    bool needed = false;  // the session has an owner
    std::vector<pid_t> processes;
    ProcessProofs::Unproven unproven;
    std::vector<pid_t> wanted;  // processes that hit a probe and were left out since the last time
  };
  // Proves processes to the session, which shows their hits from now on, and those of their forks.
  Result<Proven> prove(std::span<const int> descriptors, const std::string& session);
  // At most TC_MOST_UNPROVEN_REPORTED are reported before prove() takes them. The rest is only counted.
  void note_unproven(const tc_notice& notice);

 private:
  ProcessProofs& proofs_;
  Sessions& sessions_;
};

}  // namespace tracectl
