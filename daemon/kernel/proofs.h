// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/kernel/kernel.h"

struct tracer;

namespace tracectl {

// Checks, by a BPF program, descriptors that users sent to this process to prove what they may trace
// (bpf/proofs.bpf.h). The functions are described in daemon/kernel/kernel.h.
class Proofs {
 public:
  // `skeleton` is loaded; it is borrowed, and its maps are shared.
  explicit Proofs(tracer& skeleton);
  ~Proofs();

  Result<std::vector<ProvenMemory>> prove(std::span<const int> descriptors,
                                          std::optional<uint32_t> session);
  bool has_proof(pid_t pid, uint32_t session) const;
  void forget(uint32_t session);

 private:
  struct Looking;
  Result<Looking*> looking();
  std::optional<uint32_t> in_initial_namespace(pid_t pid) const;

  tracer& skeleton_;
  std::unique_ptr<Looking> looking_;  // null until it is needed
  // If this process is in a PID namespace of its own: the PIDs of proven processes in the initial one.
  std::unordered_map<pid_t, uint32_t> initial_pids_;
};

}  // namespace tracectl
