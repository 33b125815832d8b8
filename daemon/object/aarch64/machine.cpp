// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/machine.h"

#include <elf.h>

#include <bit>
#include <cstring>

namespace tracectl {
namespace {

// DWARF for the Arm 64-bit Architecture, 4.1: x0 to x30 and sp have their own numbers; the program counter has none
// in Debian's compilers.
constexpr uint64_t kStackPointerOfDwarf = 31;

constexpr uint32_t kLandingPad = 0xd503245f;  // bti c: Arm ARM, C6.2.41

}  // namespace

uint16_t elf_machine() { return EM_AARCH64; }

const char* name_of_machine() { return "aarch64"; }

std::string name_of(Register reg) {
  if (reg == Register::none) return {};
  if (reg == Register::sp) return "sp";
  if (reg == Register::pc) return "pc";
  return "x" + std::to_string(static_cast<unsigned>(reg));
}

std::string plain_name_of(Register reg) { return name_of(reg); }

std::string text_of_stack_place(uint64_t offset) {
  return offset ? "[sp, " + std::to_string(offset) + "]" : "[sp]";
}

unsigned dwarf_number_of(Register reg) { return static_cast<unsigned>(reg); }

std::optional<Register> register_of_dwarf(uint64_t number) {
  if (number > kStackPointerOfDwarf) return std::nullopt;
  return static_cast<Register>(number);
}

// Arm ARM, D8.10, "Pointer authentication": the signature has the bits above those of addresses, but bit 55.
uint64_t without_signature(uint64_t address, uint64_t highest) {
  constexpr uint64_t kOfKernel = uint64_t{1} << 55;
  const auto width = std::bit_width(highest);
  if (width == 0 || width == 64 || address & kOfKernel) return address;
  return address & ((uint64_t{1} << width) - 1);
}

// clang -Oz moves code that functions have in common into such functions.
bool is_called_without_frame(std::string_view name) {
  return name.starts_with("OUTLINED_FUNCTION_");
}

Relocation relocation_of(uint64_t type) {
  switch (type) {
    case R_AARCH64_RELATIVE: return Relocation::relative;
    case R_AARCH64_IRELATIVE: return Relocation::resolved;
    case R_AARCH64_ABS64:
    case R_AARCH64_GLOB_DAT:
    case R_AARCH64_JUMP_SLOT: return Relocation::of_symbol;
    default: return Relocation::other;
  }
}

bool is_entry_mark(std::span<const uint8_t> code) {
  return code.size() == sizeof(kLandingPad) &&
         std::memcmp(code.data(), &kLandingPad, sizeof(kLandingPad)) == 0;
}

}  // namespace tracectl
