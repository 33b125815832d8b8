// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tracectl {

// No program may need more instructions of the verifier, on any kernel.
inline constexpr uint64_t kMostVerifiedInstructions = 100'000;

// What the running kernel makes of one of our BPF programs.
struct Verified {
  std::string program;
  bool is_at_uprobe = false;
  uint64_t instructions = 0;  // that the verifier walked
  bool has_frames_of_cpu =
      false;            // some of its frames are in memory of the CPU: bpf/own_frames.bpf.h
  std::string refused;  // the verifier's last words, or empty
};

// Loads each program alone. Needs root. Throws what is no refusal.
std::vector<Verified> verify_programs();

}  // namespace tracectl
