// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/call_targets.h"

#include <algorithm>
#include <utility>

#include "daemon/object/code/sorted.h"
#include "daemon/object/x86_64/decoder.h"

namespace tracectl {
namespace {

constexpr uint8_t kNoIndex = 4;   // as SIB index
constexpr uint8_t kNoBase = 5;    // as SIB base, if ModRM's mod is 0
constexpr uint8_t kRelative = 5;  // as ModRM's rm, if its mod is 0
constexpr uint8_t kHasSib = 4;    // as ModRM's rm
constexpr uint8_t kRegister = 3;  // as ModRM's mod
constexpr uint64_t kWordBytes = 8;

bool has_memory(const ZydisDecodedInstruction& instruction) {
  return (instruction.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 &&
         instruction.raw.modrm.mod != kRegister;
}

bool is_rip_relative(const ZydisDecodedInstruction& instruction) {
  return instruction.raw.modrm.mod == 0 && instruction.raw.modrm.rm == kRelative;
}

bool has_index(const ZydisDecodedInstruction& instruction) {
  return instruction.raw.modrm.rm == kHasSib &&
         (instruction.raw.sib.index != kNoIndex || instruction.raw.rex.X != 0);
}

// The operand is a fixed address x, as in `call *x`.
bool is_absolute(const ZydisDecodedInstruction& instruction) {
  return instruction.raw.modrm.mod == 0 && instruction.raw.modrm.rm == kHasSib &&
         instruction.raw.sib.base == kNoBase && !has_index(instruction);
}

// The address of the operand in memory, if it does not depend on a register.
std::optional<uint64_t> fixed_address(const ZydisDecodedInstruction& instruction, uint64_t end) {
  if (!has_memory(instruction)) return std::nullopt;
  const auto displacement = static_cast<uint64_t>(instruction.raw.disp.value);
  if (is_rip_relative(instruction)) return end + displacement;
  if (is_absolute(instruction)) return displacement;
  return std::nullopt;
}

bool is_lea(const ZydisDecodedInstruction& instruction) {
  return instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
         instruction.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && instruction.opcode == 0x8d;
}

// gcc fills structures with several pointers at once: movups, movaps, movdqa, movdqu.
uint64_t words_moved(const ZydisDecodedInstruction& instruction) {
  if (instruction.opcode_map != ZYDIS_OPCODE_MAP_0F) return 1;
  switch (instruction.opcode) {
    case 0x10:
    case 0x28:
    case 0x6f: return instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ? 2 : 4;
    default: return 1;
  }
}

class Reading {
 public:
  explicit Reading(const FunctionCode& function) : function_(function) {}

  CallTargets run() {
    read(function_.body);
    for (const CodeRange& other : function_.others) read(other);
    for (auto* list :
         {&found_.called, &found_.slots, &found_.loaded, &found_.referred, &found_.constants})
      sort_once(*list);
    return std::move(found_);
  }

 private:
  void read(const CodeRange& range) {
    for (size_t position = 0; position < range.bytes.size();) {
      const auto instruction = decode_shape(range.bytes.subspan(position));
      position += instruction ? instruction->length : 1;
      if (instruction) add(*instruction, range.address + position);
    }
  }

  // `end` is the start of the next instruction, to which relative addresses are relative.
  void add(const ZydisDecodedInstruction& instruction, uint64_t end) {
    if (const auto distance = relative_target(instruction))
      add_outside(end + static_cast<uint64_t>(*distance), found_.called);
    else if (is_call(instruction) || is_indirect_jump(instruction))
      add_indirect(instruction, end);
    else
      add_operands(instruction, end);
  }

  void add_indirect(const ZydisDecodedInstruction& instruction, uint64_t end) {
    add_constants(instruction);
    if (const auto slot = fixed_address(instruction, end))
      found_.slots.push_back(*slot);
    else if (is_call(instruction) || (has_memory(instruction) && !has_index(instruction)))
      found_.calls_unknown = true;
  }

  void add_operands(const ZydisDecodedInstruction& instruction, uint64_t end) {
    add_constants(instruction);
    const auto address = fixed_address(instruction, end);
    if (!address) return;
    if (is_lea(instruction)) {
      add_outside(*address, found_.referred);
      return;
    }
    for (uint64_t word = 0; word < words_moved(instruction); ++word)
      add_outside(*address + word * kWordBytes, found_.loaded);
  }

  void add_constants(const ZydisDecodedInstruction& instruction) {
    if (has_memory(instruction) && !is_rip_relative(instruction) && instruction.raw.disp.size == 32)
      add_constant(static_cast<uint64_t>(instruction.raw.disp.value));
    for (const auto& immediate : instruction.raw.imm)
      if (immediate.size >= 32) add_constant(immediate.value.u);
  }

  void add_constant(uint64_t value) {
    if (value != 0) add_outside(value, found_.constants);
  }

  void add_outside(uint64_t address, std::vector<uint64_t>& list) {
    if (!function_.contains(address)) list.push_back(address);
  }

  const FunctionCode& function_;
  CallTargets found_;
};

}  // namespace

CallTargets call_targets(const FunctionCode& function) { return Reading{function}.run(); }

std::optional<uint64_t> slot_of_stub(const CodeRange& code) {
  constexpr int kMostInstructions = 2;  // endbr64 and the jump
  size_t position = 0;
  for (int i = 0; i < kMostInstructions; ++i) {
    const auto instruction = decode_shape(code.bytes.subspan(position));
    if (!instruction) return std::nullopt;
    position += instruction->length;
    if (is_indirect_jump(*instruction)) return fixed_address(*instruction, code.address + position);
    if (instruction->mnemonic != ZYDIS_MNEMONIC_ENDBR64) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace tracectl
