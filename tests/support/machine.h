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

// What a hit could see: the reference for implementations that run code of expressions.
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
  std::string memory;  // the program's memory from there on
};

// The bytes at the address, sign-extended if asked; none if they are not in the memory.
std::optional<uint64_t> read_memory(const MachineHit& hit, uint64_t address, unsigned size_bytes,
                                    bool is_signed);
// The string at the address: up to a zero byte, or most_bytes.
std::optional<std::string> read_string(const MachineHit& hit, uint64_t address, size_t most_bytes);
// The string of an operand with `most_bytes` as in bpf/abi_spec.h, which may be sized.
std::optional<std::string> read_text(const MachineHit& hit, uint64_t address, uint8_t most_bytes);
// The argument, extended to 64 bits.
std::optional<uint64_t> argument_value(const MachineHit& hit, size_t index, bool is_signed);

struct MachineResult {
  std::optional<uint64_t> value;  // none: it failed
  unsigned executed = 0;          // instructions
};

// Runs the code as defined in bpf/abi.h. Throws std::logic_error if the code is invalid.
MachineResult run(const ExprCode& code, const MachineHit& hit);

}  // namespace tracectl
