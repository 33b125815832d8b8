// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace tracectl {

struct Operands {
  ZydisDecodedInstruction instruction;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> all;  // including hidden ones

  std::span<const ZydisDecodedOperand> operands() const {
    return {all.data(), instruction.operand_count};
  }
};

// Decode one instruction of x86-64; nullopt if there is none.
std::optional<ZydisDecodedInstruction> decode_shape(
    std::span<const uint8_t> bytes);  // length, opcode, immediates
std::optional<Operands> decode_operands(std::span<const uint8_t> bytes);

// Whether it writes the whole named register, or a part of it.
bool writes(const Operands& instruction, ZydisRegister whole);

// The distance from the instruction's end to the target of a direct jump or call; else nullopt.
std::optional<int64_t> relative_target(const ZydisDecodedInstruction& instruction);

// These need only decode_shape().
bool is_one_byte_opcode(const ZydisDecodedInstruction& instruction);
bool is_call(const ZydisDecodedInstruction& instruction);
bool is_indirect_jump(const ZydisDecodedInstruction& instruction);

}  // namespace tracectl
