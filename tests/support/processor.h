// SPDX-License-Identifier: BSD-2-Clause
//
// The real processor, as the truth about what one instruction does with random registers.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/mapping.h"
#include "tests/support/emulated_state.h"

namespace tracectl {

// One instruction between code that loads all registers and code that stores them. One at a time in a process.
class Processor {
 public:
  // `code`: of an instruction that goes on behind itself, or returns, or jumps to the address in a register.
  explicit Processor(std::span<const uint8_t> code);

  uint64_t site() const { return site_; }  // the address of the instruction
  uint64_t next() const { return next_; }  // of what follows it
  // Memory that the instruction may read.
  std::span<uint8_t> scratch() const;

  tc_thread_state run(const tc_thread_state& before) const;

 private:
  Mapping memory_;
  uint64_t site_ = 0, next_ = 0;
};

// Registers with which the instruction reads scratch memory, and returns or jumps to what follows it. Half of the values
// are near a limit.
emulated_state random_state(std::mt19937_64& random, const tc_instruction& form,
                            const Processor& processor);

// Whether two outcomes are the same, in all flags that the instruction defines (Intel SDM, volume 2).
bool is_same(const tc_instruction& form, const tc_thread_state& a, const tc_thread_state& b);

// An instruction of each form that is emulated, in each size and with each kind of operand.
std::vector<const char*> emulated_instructions();

}  // namespace tracectl
