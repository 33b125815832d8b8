// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/stack_height.h"

#include <algorithm>

#include "daemon/object/x86_64/decoder.h"

namespace tracectl {
namespace {

using Height = std::optional<int64_t>;

constexpr int64_t kMost = int64_t{1} << 40;  // a greater height is taken as unknown

Height plus(Height height, int64_t bytes) {
  if (!height || bytes > kMost || bytes < -kMost) return std::nullopt;
  int64_t sum = *height + bytes;
  return sum > kMost || sum < -kMost ? std::nullopt : Height{sum};
}

bool is(const ZydisDecodedOperand& operand, ZydisRegister reg) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == reg;
}

// The height that a register, or an address computed from one, corresponds to.
Height height_of(const ZydisDecodedOperand& source, const StackHeight& before) {
  if (is(source, ZYDIS_REGISTER_RSP)) return before.bytes;
  if (is(source, ZYDIS_REGISTER_RBP)) return before.frame;
  if (source.type != ZYDIS_OPERAND_TYPE_MEMORY || source.mem.type != ZYDIS_MEMOP_TYPE_AGEN ||
      source.mem.index != ZYDIS_REGISTER_NONE)
    return std::nullopt;
  if (source.mem.base == ZYDIS_REGISTER_RSP) return plus(before.bytes, -source.mem.disp.value);
  if (source.mem.base == ZYDIS_REGISTER_RBP) return plus(before.frame, -source.mem.disp.value);
  return std::nullopt;
}

// The result of add, sub, mov and lea in their first operand, if known.
Height result_of(const Operands& code, const StackHeight& before) {
  const auto& to = code.all[0];
  const auto& from = code.all[1];
  bool by_number = from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  switch (code.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_LEA: return height_of(from, before);
    case ZYDIS_MNEMONIC_SUB:
      return by_number ? plus(height_of(to, before), from.imm.value.s) : std::nullopt;
    case ZYDIS_MNEMONIC_ADD:
      return by_number ? plus(height_of(to, before), -from.imm.value.s) : std::nullopt;
    default: return std::nullopt;
  }
}

StackHeight after_other(const Operands& code, const StackHeight& before) {
  StackHeight now = before;
  if (writes(code, ZYDIS_REGISTER_RSP))
    now.bytes = is(code.all[0], ZYDIS_REGISTER_RSP) ? result_of(code, before) : std::nullopt;
  if (writes(code, ZYDIS_REGISTER_RBP))
    now.frame = is(code.all[0], ZYDIS_REGISTER_RBP) ? result_of(code, before) : std::nullopt;
  return now;
}

StackHeight after_pop(const Operands& code, const StackHeight& before) {
  StackHeight now{plus(before.bytes, -(code.instruction.operand_width / 8)), before.frame};
  if (code.all[0].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) return now;  // popf
  if (is(code.all[0], ZYDIS_REGISTER_RSP)) now.bytes.reset();
  if (is(code.all[0], ZYDIS_REGISTER_RBP)) now.frame.reset();
  return now;
}

}  // namespace

StackHeight after(const CodeStep& step, const StackHeight& before) {
  if (!step.moves_stack) return before;
  auto code = decode_operands(step.bytes);
  if (!code) return {std::nullopt, std::nullopt};
  switch (code->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFQ:
      return {plus(before.bytes, code->instruction.operand_width / 8), before.frame};
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFQ: return after_pop(*code, before);
    case ZYDIS_MNEMONIC_LEAVE: return {plus(before.frame, -8), std::nullopt};
    default: return after_other(*code, before);
  }
}

}  // namespace tracectl
