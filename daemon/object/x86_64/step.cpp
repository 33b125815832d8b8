// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/step.h"

#include <algorithm>

#include "daemon/object/x86_64/decoder.h"

namespace tracectl {
namespace {

constexpr uint8_t kLock = 0xf0;
constexpr uint8_t kRsp = 4;
constexpr uint8_t kRbp = 5;

Flow flow_of_targeted(const ZydisDecodedInstruction& instruction) {
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL: return Flow::call;
    case ZYDIS_CATEGORY_UNCOND_BR: return Flow::jump;
    case ZYDIS_CATEGORY_COND_BR: break;
    default: return Flow::odd_branch;
  }
  bool by_flags = (instruction.opcode & 0xf0) ==
                  (instruction.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT ? 0x70 : 0x80);
  return by_flags ? Flow::conditional : Flow::odd_branch;
}

Flow flow_of_untargeted(const ZydisDecodedInstruction& instruction) {
  bool is_far = instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_CALL: return Flow::call;
    case ZYDIS_MNEMONIC_JMP: return is_far ? Flow::far_away : Flow::indirect;
    case ZYDIS_MNEMONIC_RET: return is_far ? Flow::far_away : Flow::ret;
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ: return Flow::far_away;
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3: return Flow::nothing;
    default: return Flow::next;
  }
}

// The register in a ModRM field, without the bits that only vector encodings add.
uint8_t register_field(const ZydisDecodedInstruction& instruction) {
  return static_cast<uint8_t>(instruction.raw.modrm.reg | (instruction.raw.rex.R << 3));
}

uint8_t register_operand(const ZydisDecodedInstruction& instruction) {
  return static_cast<uint8_t>(instruction.raw.modrm.rm | (instruction.raw.rex.B << 3));
}

bool names_stack_register(const ZydisDecodedInstruction& instruction) {
  if ((instruction.attributes & ZYDIS_ATTRIB_HAS_MODRM) == 0) return false;
  auto is_one = [](uint8_t reg) { return reg == kRsp || reg == kRbp; };
  return is_one(register_field(instruction)) ||
         (instruction.raw.modrm.mod == 3 && is_one(register_operand(instruction)));
}

bool is_one_of_push_pop_leave(const ZydisDecodedInstruction& instruction) {
  if (instruction.opcode_map == ZYDIS_OPCODE_MAP_0F)  // fs and gs
    return (instruction.opcode & 0xf6) == 0xa0;
  if (!is_one_byte_opcode(instruction)) return false;
  switch (instruction.opcode) {
    case 0x68:
    case 0x6a:
    case 0x8f:
    case 0x94:  // xchg %rsp,%rax
    case 0x9c:
    case 0x9d:
    case 0xbc:  // mov $imm,%rsp
    case 0xc8:
    case 0xc9: return true;
    case 0xff: return instruction.raw.modrm.reg == 6;
    default: return (instruction.opcode & 0xf0) == 0x50;
  }
}

// A quick check with false positives: such instructions are then decoded fully.
bool may_move_stack(const ZydisDecodedInstruction& instruction) {
  return is_one_of_push_pop_leave(instruction) ||
         (is_one_byte_opcode(instruction) && names_stack_register(instruction));
}

// movslq (base,index,4), mov (base,index,8) and jmp *(base,index,8): they read jump tables.
bool loads_by_index(const ZydisDecodedInstruction& instruction) {
  if (!is_one_byte_opcode(instruction) || (instruction.attributes & ZYDIS_ATTRIB_HAS_SIB) == 0)
    return false;
  if (instruction.raw.sib.index == 4 && instruction.raw.rex.X == 0) return false;
  switch (instruction.opcode) {
    case 0x63: return instruction.raw.sib.scale == 2;
    case 0x8b:
    case 0x03:
    case 0xff: return instruction.raw.sib.scale == 3;
    default: return false;
  }
}

CodeStep step_of(const ZydisDecodedInstruction& instruction, uint64_t address,
                 std::span<const uint8_t> bytes) {
  CodeStep step{.address = address, .bytes = bytes};
  auto distance = relative_target(instruction);
  step.has_target = distance.has_value();
  step.flow = distance ? flow_of_targeted(instruction) : flow_of_untargeted(instruction);
  if (distance) step.target = step.end() + static_cast<uint64_t>(*distance);
  step.moves_stack = may_move_stack(instruction);
  step.loads_by_index = loads_by_index(instruction);
  step.prefix_bytes = bytes[0] == kLock ? 1 : 0;
  return step;
}

bool is_stack_pointer(ZydisRegister reg) {
  return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg) == ZYDIS_REGISTER_RSP;
}

// In the red zone, at a known displacement: the return address is at 0.
bool is_below_return_address(const ZydisDecodedOperand& operand) {
  return operand.mem.type == ZYDIS_MEMOP_TYPE_MEM && operand.mem.base == ZYDIS_REGISTER_RSP &&
         operand.mem.index == ZYDIS_REGISTER_NONE && operand.mem.disp.value < 0 &&
         operand.mem.disp.value + operand.size / 8 <= 0;
}

bool uses_stack(const ZydisDecodedOperand& operand) {
  if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) return is_stack_pointer(operand.reg.value);
  if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) return false;
  const bool of_stack = is_stack_pointer(operand.mem.base) || is_stack_pointer(operand.mem.index);
  return of_stack && !is_below_return_address(operand);
}

bool enters_kernel(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_SYSCALL || mnemonic == ZYDIS_MNEMONIC_SYSENTER ||
         mnemonic == ZYDIS_MNEMONIC_INT;
}

}  // namespace

std::optional<CodeStep> step_at(uint64_t address, std::span<const uint8_t> bytes) {
  const auto instruction = decode_shape(bytes);
  if (!instruction) return std::nullopt;
  return step_of(*instruction, address, bytes.first(instruction->length));
}

bool is_nop(const CodeStep& step) {
  const auto decoded = decode_shape(step.bytes);
  return decoded && decoded->mnemonic == ZYDIS_MNEMONIC_NOP;
}

uint8_t condition_of(const CodeStep& step) {
  const auto decoded = decode_shape(step.bytes);
  return decoded ? decoded->opcode & 0x0f : 0;
}

bool leaves_return_address_alone(const CodeStep& step) {
  const auto decoded = decode_operands(step.bytes);
  return decoded && !enters_kernel(decoded->instruction.mnemonic) &&
         std::ranges::none_of(decoded->operands(), uses_stack);
}

}  // namespace tracectl
