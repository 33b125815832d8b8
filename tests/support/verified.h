// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tracectl {

// The verifier's limit for each program, on any kernel.
inline constexpr uint64_t kMostVerifiedInstructions = 100'000;

// The running kernel's verdict on one of our BPF programs.
struct Verified {
  std::string program;
  bool is_at_uprobe = false;
  uint64_t instructions = 0;       // processed by the verifier
  bool has_frames_of_cpu = false;  // some frames are in per-CPU memory: bpf/own_frames.bpf.h
  std::string refused;             // the verifier's last words, or empty
};

// Loads each program separately. Needs root. Throws errors other than refusals.
std::vector<Verified> verify_programs();

}  // namespace tracectl
