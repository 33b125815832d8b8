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

// Looks with a program of the kernel's at descriptors of this process that users have given as proofs of what
// they may trace (bpf/proofs.bpf.h). What the functions mean: daemon/kernel/kernel.h.
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
  std::unique_ptr<Looking> looking_;  // once it was needed
  // Where this process is in a PID namespace of its own: the numbers in the initial one of those that were proven.
  std::unordered_map<pid_t, uint32_t> initial_pids_;
};

}  // namespace tracectl
