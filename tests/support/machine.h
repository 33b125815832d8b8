// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/model/argument.h"
#include "daemon/spec/code.h"

namespace tracectl {

// What a hit could see: the reference for whoever runs the code of expressions.
struct MachineHit {
  Arguments arguments;
  std::vector<std::optional<uint64_t>> values;  // of the arguments, unextended; none: unreadable
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint32_t uid = 0;
  uint32_t cpu = 0;
  uint64_t cgroup = 0;
  uint64_t ts_ns = 0;
  std::string comm;
  uint64_t memory_start = 0;
  std::string memory;  // what the program has from there on
};

// Bytes at the address, sign-extended if asked; none where they are not in the memory.
std::optional<uint64_t> read_memory(const MachineHit& hit, uint64_t address, unsigned size_bytes,
                                    bool is_signed);
// The string at the address: up to its byte 0, or most_bytes.
std::optional<std::string> read_string(const MachineHit& hit, uint64_t address, size_t most_bytes);
// The argument, extended to 64 bits.
std::optional<uint64_t> argument_value(const MachineHit& hit, size_t index, bool is_signed);

struct MachineResult {
  std::optional<uint64_t> value;  // none: it failed
  unsigned executed = 0;          // instructions
};

// Runs the code as bpf/abi.h says. Throws std::logic_error where the code is not what it may be.
MachineResult run(const ExprCode& code, const MachineHit& hit);

}  // namespace tracectl
