// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/x86_64/pushed.h"

#include <algorithm>

#include "daemon/object/x86_64/decoder.h"
#include "daemon/object/x86_64/listing.h"
#include "daemon/object/x86_64/stack_height.h"

namespace tracectl {

std::optional<uint32_t> pushed_before(const CodeRange& function, uint64_t offset) {
  if (offset == 0) return 0;
  if (offset > function.bytes.size()) return std::nullopt;
  auto entry = Listing::of(
      {.body = {function.address, function.bytes.first(offset)}, .extent = Extent::whole});
  if (!entry) return std::nullopt;
  StackHeight height;
  for (const CodeStep& step : entry->steps()) height = after(step, height);
  if (!height.bytes || *height.bytes < 0) return std::nullopt;
  return static_cast<uint32_t>(*height.bytes);
}

namespace {

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

bool leaves_return_address_alone(const CodeStep& step) {
  const auto decoded = decode_operands(step.bytes);
  return decoded && !enters_kernel(decoded->instruction.mnemonic) &&
         std::ranges::none_of(decoded->operands(), uses_stack);
}

}  // namespace

bool is_leaf(const FunctionCode& function) {
  if (function.extent != Extent::whole) return false;
  auto listing = Listing::of(function);
  if (!listing) return false;
  return std::ranges::all_of(listing->steps(), [&](const CodeStep& step) {
    switch (step.flow) {
      case Flow::next: return leaves_return_address_alone(step);
      case Flow::ret:
      case Flow::nothing: return true;
      case Flow::conditional:
      case Flow::odd_branch:
      case Flow::jump: return listing->contains(step.target);
      default: return false;
    }
  });
}

}  // namespace tracectl
