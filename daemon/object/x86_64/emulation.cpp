// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/emulation.h"

#include <algorithm>
#include <cstring>

#include "daemon/object/x86_64/decoder.h"

namespace tracectl {
namespace {

using Operand = ZydisDecodedOperand;

std::optional<tc_operation> operation_of(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_ENDBR64:
    case ZYDIS_MNEMONIC_NOP: return TC_DO_NOTHING;
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_LEA: return TC_DO_MOVE;
    case ZYDIS_MNEMONIC_ADD: return TC_DO_ADD;
    case ZYDIS_MNEMONIC_SUB: return TC_DO_SUBTRACT;
    case ZYDIS_MNEMONIC_CMP: return TC_DO_COMPARE;
    case ZYDIS_MNEMONIC_AND: return TC_DO_AND;
    case ZYDIS_MNEMONIC_TEST: return TC_DO_TEST;
    case ZYDIS_MNEMONIC_OR: return TC_DO_OR;
    case ZYDIS_MNEMONIC_XOR: return TC_DO_XOR;
    case ZYDIS_MNEMONIC_INC: return TC_DO_INCREMENT;
    case ZYDIS_MNEMONIC_DEC: return TC_DO_DECREMENT;
    case ZYDIS_MNEMONIC_JMP: return TC_DO_JUMP;
    case ZYDIS_MNEMONIC_RET: return TC_DO_RETURN;
    default: return std::nullopt;
  }
}

// None for a register of another kind, and for ah, ch, dh and bh, which are parts of others.
std::optional<uint8_t> number_of(ZydisRegister reg) {
  switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
      if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH) return std::nullopt;
      break;
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64: break;
    default: return std::nullopt;
  }
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  return static_cast<uint8_t>(ZydisRegisterGetId(whole));
}

bool set_base(const Operand& memory, tc_instruction& form) {
  if (memory.mem.base == ZYDIS_REGISTER_NONE) return true;
  if (memory.mem.base == ZYDIS_REGISTER_RIP) {
    form.base = TC_INSTRUCTION_POINTER;
    return true;
  }
  const auto number = number_of(memory.mem.base);
  if (number) form.base = *number;
  return number.has_value();
}

bool set_index(const Operand& memory, tc_instruction& form) {
  if (memory.mem.index == ZYDIS_REGISTER_NONE) return true;
  const auto number = number_of(memory.mem.index);
  if (!number) return false;
  form.index = *number;
  while (1 << form.shift < memory.mem.scale) ++form.shift;
  return true;
}

bool set_address(const ZydisDecodedInstruction& instruction, const Operand& memory,
                 tc_instruction& form) {
  const bool is_plain = instruction.address_width == 64 &&
                        memory.mem.segment != ZYDIS_REGISTER_FS &&
                        memory.mem.segment != ZYDIS_REGISTER_GS;
  if (!is_plain || memory.mem.disp.value != static_cast<int32_t>(memory.mem.disp.value))
    return false;
  form.displacement = static_cast<int32_t>(memory.mem.disp.value);
  return set_base(memory, form) && set_index(memory, form);
}

std::optional<tc_operand_kind> read_operand(const ZydisDecodedInstruction& instruction,
                                            const Operand& operand, uint8_t& number,
                                            tc_instruction& form) {
  switch (operand.type) {
    case ZYDIS_OPERAND_TYPE_REGISTER: {
      const auto of_register = number_of(operand.reg.value);
      if (!of_register) return std::nullopt;
      number = *of_register;
      return TC_OPERAND_REGISTER;
    }
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
      form.immediate = operand.imm.value.u;
      return TC_OPERAND_IMMEDIATE;
    case ZYDIS_OPERAND_TYPE_MEMORY:
      if (!set_address(instruction, operand, form)) return std::nullopt;
      return operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN ? TC_OPERAND_ADDRESS : TC_OPERAND_MEMORY;
    default: return std::nullopt;
  }
}

// The operand that is written: a register. That which is compared may be in memory.
bool set_left(const Operands& decoded, tc_instruction& form) {
  const Operand& operand = decoded.all[0];
  const auto kind = read_operand(decoded.instruction, operand, form.left_register, form);
  if (!kind) return false;
  form.left = static_cast<uint8_t>(*kind);
  form.size = static_cast<uint8_t>(operand.size / 8);
  const bool is_written = (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
  return *kind == TC_OPERAND_REGISTER || (*kind == TC_OPERAND_MEMORY && !is_written);
}

bool set_right(const Operands& decoded, tc_instruction& form) {
  if (form.operation == TC_DO_INCREMENT || form.operation == TC_DO_DECREMENT) {
    form.right = TC_OPERAND_IMMEDIATE;
    form.immediate = 1;
    form.right_size = form.size;
    return true;
  }
  const Operand& operand = decoded.all[1];
  const auto kind = read_operand(decoded.instruction, operand, form.right_register, form);
  if (!kind) return false;
  form.right = static_cast<uint8_t>(*kind);
  const bool is_extended = decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOVZX ||
                           decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOVSX ||
                           decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
  form.right_size = is_extended ? static_cast<uint8_t>(operand.size / 8) : form.size;
  form.is_signed = decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOVSX ||
                   decoded.instruction.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
  return true;
}

// Processors differ in what they do with a branch that has this prefix.
bool has_16_bit_prefix(const ZydisDecodedInstruction& instruction) {
  const auto prefixes = std::span{instruction.raw.prefixes}.first(instruction.raw.prefix_count);
  return std::ranges::any_of(prefixes, [](const auto& prefix) { return prefix.value == 0x66; });
}

bool set_jump(const Operands& decoded, tc_instruction& form) {
  const Operand& target = decoded.all[0];
  if (target.type == ZYDIS_OPERAND_TYPE_IMMEDIATE || target.size != 64 ||
      has_16_bit_prefix(decoded.instruction))
    return false;
  const auto kind = read_operand(decoded.instruction, target, form.right_register, form);
  form.size = form.right_size = 8;
  form.right = static_cast<uint8_t>(kind.value_or(TC_OPERAND_NONE));
  return kind.has_value();
}

// A near one that pops nothing else reads the word at the stack pointer.
bool set_return(const ZydisDecodedInstruction& instruction, tc_instruction& form) {
  form.size = form.right_size = 8;
  form.right = TC_OPERAND_MEMORY;
  form.base = TC_STACK_POINTER;
  return instruction.opcode == 0xc3 && !has_16_bit_prefix(instruction);
}

// Where the kernel copies memory for a program in parts, a value that another thread is writing could be half of an old and
// half of a new one. A byte has no halves, and no other thread writes a return address.
bool is_read_as_one(const tc_instruction& form) {
  if (form.left != TC_OPERAND_MEMORY && form.right != TC_OPERAND_MEMORY) return true;
  const uint8_t size = form.right == TC_OPERAND_MEMORY ? form.right_size : form.size;
  return size == 1 || form.operation == TC_DO_RETURN;
}

bool set_operands(const Operands& decoded, tc_instruction& form) {
  switch (form.operation) {
    case TC_DO_NOTHING: return true;
    case TC_DO_JUMP: return set_jump(decoded, form);
    case TC_DO_RETURN: return set_return(decoded.instruction, form);
    default: return set_left(decoded, form) && set_right(decoded, form);
  }
}

// The kernel changes the bytes of an instruction that is relative to its own address, to step it elsewhere: it writes
// bit 0 of the REX prefix, and the mode and the register of ModRM (arch/x86/kernel/uprobes.c, riprel_analyze).
void set_code(std::span<const uint8_t> bytes, const ZydisDecodedInstruction& instruction,
              tc_instruction& form) {
  std::array<uint8_t, sizeof(form.code)> code{}, mask{};
  std::ranges::copy(bytes, code.begin());
  std::fill_n(mask.begin(), bytes.size(), uint8_t{0xff});
  if (form.base == TC_INSTRUCTION_POINTER) {
    if (instruction.attributes & ZYDIS_ATTRIB_HAS_REX) mask[instruction.raw.rex.offset] = 0xfe;
    mask[instruction.raw.modrm.offset] = 0x38;
  }
  std::memcpy(form.code, code.data(), sizeof(form.code));
  std::memcpy(form.mask, mask.data(), sizeof(form.mask));
}

// Of what writes the stack pointer, only the return at an exit is carried out.
bool may_write_stack_pointer(tc_operation operation, Standing standing) {
  return operation == TC_DO_RETURN && standing == Standing::at_exit;
}

bool has_lock(const ZydisDecodedInstruction& instruction) {
  return (instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0;
}

}  // namespace

std::optional<tc_instruction> emulated_form(std::span<const uint8_t> bytes, Standing standing,
                                            Emulates emulates) {
  if (emulates == Emulates::nothing) return std::nullopt;
  const auto decoded = decode_operands(bytes);
  if (!decoded || has_lock(decoded->instruction)) return std::nullopt;
  const auto operation = operation_of(decoded->instruction.mnemonic);
  if (!operation) return std::nullopt;
  if (writes(*decoded, ZYDIS_REGISTER_RSP) && !may_write_stack_pointer(*operation, standing))
    return std::nullopt;
  tc_instruction form{};
  form.operation = static_cast<uint8_t>(*operation);
  form.length = decoded->instruction.length;
  form.base = form.index = TC_NO_REGISTER;
  if (!set_operands(*decoded, form)) return std::nullopt;
  if (emulates != Emulates::all && !is_read_as_one(form)) return std::nullopt;
  set_code(bytes.first(form.length), decoded->instruction, form);
  return form;
}

}  // namespace tracectl
