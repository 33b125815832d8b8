// SPDX-License-Identifier: BSD-2-Clause
//
// The functions that the kernel's handling of uprobes is tried out on, in assembler. The folder of each machine has them.
#pragma once

#include <array>
#include <cstdint>

namespace tracectl {

// Each starts with, or contains, the instruction of its name.
enum class TrialFunction : uint8_t {
  nop,             // the shortest nop first
  nop5,            // a 5-byte nop first
  stepped,         // first an instruction that the kernel single-steps
  red_zone,        // a leaf with a 5-byte nop while its red zone holds data
  nop10,           // first the 10-byte nop with a cs prefix, which uprobes refuse before Linux 7.2
  nop10_red_zone,  // a leaf with such a nop while its red zone holds data
  unsupported,     // first an instruction that uprobes refuse on every kernel
  emulated,        // contains, as the others begin with, one that the daemon's emulator carries out
  loads,           // loads of the word that set_trial_word() gives: see trial_loads()
  system_call,     // makes one that a filter which knows nothing of it stops
};

struct TrialCode {
  uint64_t (*function)() = nullptr;  // returns whether its data has changed
  const void* site = nullptr;        // the instruction
  const void* exit = nullptr;        // for nop, nop5, emulated and stepped: the one that returns
};

// On x86-64 only. The instructions of TrialFunction::loads that load 8, 4 and 2 bytes.
std::array<const void*, 3> trial_loads();
void set_trial_word(const void* word);
// Of the sum of what less than 65,536 calls of it returned: in how many a load was neither of ones nor of zeros, and in
// how many the 8 bytes of the word were not alike, loaded one by one.
inline uint64_t torn_loads(uint64_t sum) { return sum & 0xffff; }
inline uint64_t torn_byte_loads(uint64_t sum) { return sum >> 16; }

// Without either if the machine has no such instruction.
TrialCode code_of(TrialFunction function);

// Where a uprobe's program sees the registers: offsets in struct pt_regs.
struct TrialRegisters {
  int16_t result;
  int16_t instruction_pointer;
  int32_t
      nop_to_return;  // bytes from the nop of TrialFunction::nop to the instruction that returns
};
TrialRegisters trial_registers();

}  // namespace tracectl
