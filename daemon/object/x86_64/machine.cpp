// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/machine.h"

#include <elf.h>

#include <algorithm>
#include <array>

namespace tracectl {
namespace {

// DWARF's number of each register: System V ABI for AMD64, figure 3.36. The index is the register's
// number in instructions.
constexpr std::array<unsigned, kRegisters> kDwarfNumbers{0, 2,  1,  3,  7,  6,  4,  5, 8,
                                                         9, 10, 11, 12, 13, 14, 15, 16};

}  // namespace

uint16_t elf_machine() { return EM_X86_64; }

const char* name_of_machine() { return "x86-64"; }

std::string name_of(Register reg) {
  static constexpr std::array kNames{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",
                                     "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
  const auto number = static_cast<size_t>(reg);
  return number < kNames.size() ? std::string{"%"} + kNames[number] : std::string{};
}

std::string plain_name_of(Register reg) {
  const std::string name = name_of(reg);
  return name.substr(std::min(name.find_first_not_of('%'), name.size()));
}

std::string text_of_stack_place(uint64_t offset) { return std::to_string(offset) + "(%rsp)"; }

unsigned dwarf_number_of(Register reg) { return kDwarfNumbers[static_cast<size_t>(reg)]; }

std::optional<Register> register_of_dwarf(uint64_t number) {
  const auto found = std::ranges::find(kDwarfNumbers, number);
  const auto reg = static_cast<Register>(found - kDwarfNumbers.begin());
  return is_general(reg) ? std::optional{reg} : std::nullopt;
}

uint64_t without_signature(uint64_t address, uint64_t) { return address; }

bool is_called_without_frame(std::string_view) { return false; }

Relocation relocation_of(uint64_t type) {
  switch (type) {
    case R_X86_64_RELATIVE: return Relocation::relative;
    case R_X86_64_IRELATIVE: return Relocation::resolved;
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT: return Relocation::of_symbol;
    default: return Relocation::other;
  }
}

bool is_entry_mark(std::span<const uint8_t> code) {
  static constexpr std::array<uint8_t, 4> kEndbr64{0xf3, 0x0f, 0x1e, 0xfa};
  return std::ranges::equal(code, kEndbr64);
}

}  // namespace tracectl
