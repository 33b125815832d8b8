// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/x86_64/decoder.h"

#include <algorithm>

namespace tracectl {
namespace {

ZydisDecoder make_decoder(bool minimal) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, minimal ? ZYAN_TRUE : ZYAN_FALSE);
  return decoder;
}

// Opcode ff is several instructions, selected by a field of its second byte.
bool is_group5(const ZydisDecodedInstruction& instruction, uint8_t near, uint8_t far) {
  return is_one_byte_opcode(instruction) && instruction.opcode == 0xff &&
         (instruction.raw.modrm.reg == near || instruction.raw.modrm.reg == far);
}

}  // namespace

bool is_one_byte_opcode(const ZydisDecodedInstruction& instruction) {
  return instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
         instruction.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
}

std::optional<ZydisDecodedInstruction> decode_shape(std::span<const uint8_t> bytes) {
  static const ZydisDecoder decoder = make_decoder(true);
  ZydisDecodedInstruction instruction;
  ZyanStatus status =
      ZydisDecoderDecodeInstruction(&decoder, nullptr, bytes.data(), bytes.size(), &instruction);
  if (!ZYAN_SUCCESS(status)) return std::nullopt;
  return instruction;
}

std::optional<Operands> decode_operands(std::span<const uint8_t> bytes) {
  static const ZydisDecoder decoder = make_decoder(false);
  Operands decoded;
  ZyanStatus status = ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(),
                                             &decoded.instruction, decoded.all.data());
  if (!ZYAN_SUCCESS(status)) return std::nullopt;
  return decoded;
}

bool writes(const Operands& instruction, ZydisRegister whole) {
  return std::ranges::any_of(instruction.operands(), [&](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
           (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
           ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value) == whole;
  });
}

std::optional<int64_t> relative_target(const ZydisDecodedInstruction& instruction) {
  for (const auto& immediate : instruction.raw.imm)
    if (immediate.size != 0 && immediate.is_relative) return immediate.value.s;
  return std::nullopt;
}

bool is_call(const ZydisDecodedInstruction& instruction) {
  return (is_one_byte_opcode(instruction) && instruction.opcode == 0xe8) ||
         is_group5(instruction, 2, 3);
}

bool is_indirect_jump(const ZydisDecodedInstruction& instruction) {
  return is_group5(instruction, 4, 5);
}

}  // namespace tracectl
