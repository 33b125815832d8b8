// SPDX-License-Identifier: BSD-2-Clause
//
// The kernel's door for what a session's user may see: descriptors that users sent to this process to prove which
// processes they may trace, checked by a BPF program (bpf/proofs.bpf.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/result.h"

struct tracer;

namespace tracectl {

// A descriptor of /proc/PID/mem, opened for reading since the process last executed a program.
struct ProvenMemory {
  int descriptor = -1;
  pid_t pid = 0;
};

// Only the control thread may call it, except where said. It owns the program that looks at descriptors, which it
// loads when it first needs it; prove() fails if that fails.
class ProcessProofs {
 public:
  // `skeleton` is loaded; both are borrowed, and the maps are shared.
  ProcessProofs(tracer& skeleton, std::span<tc_session> sessions);
  ~ProcessProofs();

  // Returns those of this process's descriptors that are /proc/PID/mem of the program a process executes now. The
  // kernel opens one only for users who may trace the process. With a session, its user may see the hits of these
  // processes from now on, and of the children they fork, until they execute another program. At most TC_MAX_PROOFS
  // descriptors.
  Result<std::vector<ProvenMemory>> prove(std::span<const int> descriptors,
                                          std::optional<uint32_t> session);
  // Whether the session's user may see the hits of the process.
  bool has_proof(pid_t pid, uint32_t session) const;
  // The session's user may see no process any more.
  void forget(uint32_t session);

  // The processes, and their hits, that the session left out because no proof was given. Any thread.
  struct Unproven {
    uint64_t processes = 0, hits = 0;
  };
  Unproven unproven(uint32_t session) const;
  // Notices report the next TC_MOST_UNPROVEN_REPORTED such processes, and no more until this is called again.
  void listen_for_unproven(uint32_t session);

 private:
  struct Looking;
  Result<Looking*> looking();
  std::optional<uint32_t> in_initial_namespace(pid_t pid) const;

  tracer& skeleton_;
  std::span<tc_session> sessions_;
  std::unique_ptr<Looking> looking_;  // null until it is needed
  // If this process is in a PID namespace of its own: the PIDs of proven processes in the initial one.
  std::unordered_map<pid_t, uint32_t> initial_pids_;
};

}  // namespace tracectl
