// SPDX-License-Identifier: BSD-2-Clause
//
// What files for the machine that this is compiled for say by numbers. The room of each machine defines it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "daemon/model/register.h"

namespace tracectl {

uint16_t elf_machine();                   // e_machine of ELF headers
const char* name_of_machine();            // as users know it: "x86-64"
std::string name_of(Register reg);        // as assemblers write it: "%rdi", "x0"; empty for none
std::string plain_name_of(Register reg);  // without a '%'

// The place of an argument on the stack, as assemblers write it: "8(%rsp)", "[sp, 8]".
std::string text_of_stack_place(uint64_t offset);

// DWARF's number of a register, and the register; none if it is not general. The instruction pointer has a number on
// x86-64 only.
unsigned dwarf_number_of(Register reg);
std::optional<Register> register_of_dwarf(uint64_t number);

// A return address without the signature that a machine may put into the bits that addresses of programs do not use;
// `highest`: the beginning of the process's stack, which lies at the end of its address space.
uint64_t without_signature(uint64_t address, uint64_t highest);

// Whether compilers call the function from code that keeps its own return address in a register meanwhile. Such a
// caller and the function have the same place on the stack.
bool is_called_without_frame(std::string_view name);

// What the dynamic linker writes into a word.
enum class Relocation {
  relative,   // an address of this file
  resolved,   // what the function at such an address returns (IFUNC)
  of_symbol,  // the address of a symbol
  other,
};
Relocation relocation_of(uint64_t type);

// Whether the instructions change nothing that an argument depends on, the stack pointer neither: they only mark the
// function's entry as a target of indirect calls.
bool is_entry_mark(std::span<const uint8_t> code);

}  // namespace tracectl
