// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/placement.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "daemon/object/code/instruction.h"
#include "daemon/object/x86_64/decoder.h"

namespace tracectl {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr int kMaxMovedOver = 16;  // instructions

std::string at(uint64_t offset) { return "+" + std::to_string(offset); }

// Properties of all code of a function that concern offsets in its body.
struct Survey {
  bool complete = true;  // all of it could be decoded
  bool indirect_jump = false;
  bool call = false;
  uint64_t first_target =
      std::numeric_limits<uint64_t>::max();  // lowest offset > 0 in the body jumped to
};

void survey_target(const CodeRange& body, uint64_t target_address, Survey& survey) {
  uint64_t offset = target_address - body.address;  // wraps to a huge value if before the body
  if (offset > 0 && offset < body.bytes.size())
    survey.first_target = std::min(survey.first_target, offset);
}

void survey_range(const CodeRange& body, const CodeRange& range, Survey& survey) {
  for (uint64_t position = 0; position < range.bytes.size();) {
    auto instruction = decode_shape(range.bytes.subspan(position));
    if (!instruction) {
      survey.complete = false;
      return;
    }
    position += instruction->length;
    survey.call |= is_call(*instruction);
    survey.indirect_jump |= is_indirect_jump(*instruction);
    if (auto distance = relative_target(*instruction))
      survey_target(body, range.address + position + static_cast<uint64_t>(*distance), survey);
  }
}

Survey survey(const FunctionCode& function) {
  Survey result;
  survey_range(function.body, function.body, result);
  for (const CodeRange& other : function.others) survey_range(function.body, other, result);
  return result;
}

bool is_argument_register(ZydisRegister reg) {
  static constexpr std::array kArguments{ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RSI, ZYDIS_REGISTER_RDX,
                                         ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_R8,  ZYDIS_REGISTER_R9};
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  return std::ranges::find(kArguments, whole) != kArguments.end();
}

bool writes_an_argument(const Operands& instruction) {
  return std::ranges::any_of(instruction.operands(), [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
           (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
           is_argument_register(operand.reg.value);
  });
}

bool may_not_go_on(const ZydisDecodedInstruction& instruction) {
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_SYSTEM: return true;
    default: break;
  }
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT: return true;
    default: return relative_target(instruction).has_value();
  }
}

// Whether the code after the instruction runs as often as the instruction, with the same arguments.
// An indirect jump could lead anywhere, except right after endbr64: compilers begin no loop and no
// jump table's target there.
bool may_move_over(const Operands& instruction, const Survey& survey) {
  if (survey.indirect_jump && instruction.instruction.mnemonic != ZYDIS_MNEMONIC_ENDBR64)
    return false;
  return !may_not_go_on(instruction.instruction) && !writes_an_argument(instruction);
}

// Skips 5-byte nops: after the entry there may be a live red zone below the stack pointer.
bool is_worth_moving_to(const Instruction& instruction, Bytes code, CostClass dearest) {
  return instruction.refusal == nullptr && instruction.cost <= dearest && !is_nop5(code);
}

std::optional<Placement> place_behind(const FunctionCode& function, const SiteCosts& costs,
                                      CostClass dearest) {
  Survey all = survey(function);
  if (!all.complete) return std::nullopt;
  uint64_t end = std::min<uint64_t>(all.first_target, function.body.bytes.size());
  uint64_t position = 0;
  for (int moved_over = 0; moved_over < kMaxMovedOver; ++moved_over) {
    auto passed = decode_operands(function.body.bytes.subspan(position));
    if (!passed || !may_move_over(*passed, all)) return std::nullopt;
    position += passed->instruction.length;
    if (position >= end) return std::nullopt;
    const Bytes rest = function.body.bytes.subspan(position);
    auto candidate = decode_instruction(rest, costs);
    if (!candidate || position + candidate->length > end) return std::nullopt;
    if (is_worth_moving_to(*candidate, rest, dearest))
      return Placement{position, candidate->cost, candidate->length};
  }
  return std::nullopt;
}

// An access at a negative offset from rsp. `lea` into rsp itself allocates stack instead.
bool reaches_below_stack_pointer(const Operands& instruction) {
  auto operands = instruction.operands();
  bool sets_rsp = !operands.empty() && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                  operands[0].reg.value == ZYDIS_REGISTER_RSP;
  return std::ranges::any_of(operands, [&](const ZydisDecodedOperand& operand) {
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.base != ZYDIS_REGISTER_RSP)
      return false;
    if (operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) return false;  // push, call
    if (operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN && sets_rsp) return false;
    return operand.mem.disp.has_displacement && operand.mem.disp.value < 0;
  });
}

bool uses_red_zone(Bytes function) {
  for (uint64_t position = 0; position < function.size();) {
    auto instruction = decode_operands(function.subspan(position));
    if (!instruction || reaches_below_stack_pointer(*instruction)) return true;
    position += instruction->instruction.length;
  }
  return false;
}

Error red_zone(const std::string& why) {
  return Error{
      Code::unsupported,
      "some kernels turn the 5-byte nop into a call, which overwrites what lies below the stack "
      "pointer, and " +
          why +
          "; probe the function's entry, or build the program with a 1-byte nop at the probe"};
}

}  // namespace

Result<Placement> place_entry(const FunctionCode& function, const SiteCosts& costs) {
  auto entry = place(function.body.bytes, 0, costs);
  if (entry && entry->cost <= CostClass::normal) return entry;
  if (function.extent == Extent::unknown) return entry;
  if (auto cheaper = place_behind(function, costs, CostClass::normal)) return *cheaper;
  if (entry && entry->cost <= CostClass::emulated) return entry;
  if (auto cheaper = place_behind(function, costs, CostClass::emulated)) return *cheaper;
  return entry;
}

Placement place_in_header_site(const SiteCosts& costs) {
  Placement cheapest{0, CostClass::normal, 1};
  if (costs.ten && *costs.ten < cheapest.cost) cheapest = {1, *costs.ten, 10};
  if (costs.five < cheapest.cost) cheapest = {11, costs.five, 5};
  return cheapest;
}

Status nop5_is_safe(const FunctionCode& function, uint64_t offset) {
  if (offset >= function.body.bytes.size() || !is_nop5(function.body.bytes.subspan(offset)))
    return Error{Code::invalid, "there is no 5-byte nop at " + at(offset)};
  if (offset == 0 || leads_to_return(function.body.bytes.subspan(offset))) return ok();
  if (function.extent == Extent::unknown)
    return red_zone(
        "where the function ends is unknown, so whether it keeps anything there is too");
  Survey body;
  survey_range(function.body, function.body, body);
  if (!body.complete) return red_zone("the function's code cannot be decoded to its end");
  if (!body.call) return red_zone("the function calls no other, so it may keep variables there");
  if (uses_red_zone(function.body.bytes)) return red_zone("the function keeps variables there");
  return ok();
}

}  // namespace tracectl
