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
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> all;  // hidden ones too

  std::span<const ZydisDecodedOperand> operands() const {
    return {all.data(), instruction.operand_count};
  }
};

// x86-64 code, one instruction at a time; nullopt where there is none.
std::optional<ZydisDecodedInstruction> decode_shape(
    std::span<const uint8_t> bytes);  // length, opcode, immediates
std::optional<Operands> decode_operands(std::span<const uint8_t> bytes);

// Whether it writes the whole register that is named, or a part of it.
bool writes(const Operands& instruction, ZydisRegister whole);

// The distance from the instruction's end to where it jumps or calls; nullopt for any other.
std::optional<int64_t> relative_target(const ZydisDecodedInstruction& instruction);

// These need no more than decode_shape().
bool is_one_byte_opcode(const ZydisDecodedInstruction& instruction);
bool is_call(const ZydisDecodedInstruction& instruction);
bool is_indirect_jump(const ZydisDecodedInstruction& instruction);

}  // namespace tracectl
