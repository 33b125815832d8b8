// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/indirect_calls.h"

#include <algorithm>
#include <utility>

#include "daemon/object/x86_64/decoder.h"

namespace tracectl {
namespace {

std::optional<Register> register_of(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_NONE) return Register::none;
  if (reg == ZYDIS_REGISTER_RIP) return Register::rip;
  if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15) return std::nullopt;
  return static_cast<Register>(reg - ZYDIS_REGISTER_RAX);
}

bool is_of_thread(ZydisRegister segment) {
  return segment == ZYDIS_REGISTER_FS || segment == ZYDIS_REGISTER_GS;
}

std::optional<Argument> in_register(const ZydisDecodedOperand& operand) {
  const auto base = register_of(operand.reg.value);
  if (!base) return std::nullopt;
  return Argument{
      .place = Argument::Place::in_register, .kind = Argument::Kind::pointer, .base = *base};
}

// Relative to the instruction's start, which is rip in a probe; the instruction itself counts from
// its end.
std::optional<Argument> in_memory(const ZydisDecodedOperand& operand, uint8_t length) {
  const auto base = register_of(operand.mem.base);
  const auto index = register_of(operand.mem.index);
  if (!base || !index || is_of_thread(operand.mem.segment)) return std::nullopt;
  return Argument{.place = Argument::Place::memory,
                  .kind = Argument::Kind::pointer,
                  .base = *base,
                  .index = *index,
                  .scale = std::max(operand.mem.scale, uint8_t{1}),
                  .offset = operand.mem.disp.value + (*base == Register::rip ? length : 0)};
}

// Compilers generate no far calls and no operands of other sizes.
std::optional<Argument> callee_of(const Operands& code) {
  const ZydisDecodedOperand& operand = code.all[0];
  if (operand.size != 64) return std::nullopt;
  if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) return in_register(operand);
  if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) return in_memory(operand, code.instruction.length);
  return std::nullopt;
}

std::optional<uint64_t> slot_of(const Argument& callee, uint64_t address) {
  if (callee.place != Argument::Place::memory || callee.index != Register::none)
    return std::nullopt;
  const auto offset = static_cast<uint64_t>(callee.offset);
  if (callee.base == Register::rip) return address + offset;
  if (callee.base == Register::none) return offset;
  return std::nullopt;
}

class Search {
 public:
  Search(const FunctionCode& function, const ReadFile& read)
      : function_(function), read_(read), listing_(Listing::of(function)) {}

  std::vector<IndirectCall> run() {
    if (!listing_) return {};
    search(function_.body);
    for (const CodeRange& other : function_.others) search(other);
    return std::move(found_);
  }

 private:
  void search(const CodeRange& range) {
    for (size_t position = 0; position < range.bytes.size();) {
      const auto bytes = range.bytes.subspan(position);
      const auto instruction = decode_shape(bytes);
      if (instruction && is_wanted(*instruction, range.address + position))
        add(bytes, range.address + position);
      position += instruction ? instruction->length : 1;
    }
  }

  bool is_wanted(const ZydisDecodedInstruction& instruction, uint64_t address) const {
    if (is_indirect_jump(instruction)) return jump_leads_out(*listing_, address, read_);
    return is_call(instruction) && !relative_target(instruction);
  }

  void add(std::span<const uint8_t> bytes, uint64_t address) {
    const auto code = decode_operands(bytes);
    const auto callee = code ? callee_of(*code) : std::nullopt;
    if (callee) found_.push_back({address, *callee, slot_of(*callee, address)});
  }

  const FunctionCode& function_;
  const ReadFile& read_;
  Result<Listing> listing_;
  std::vector<IndirectCall> found_;
};

}  // namespace

std::vector<IndirectCall> indirect_calls(const FunctionCode& function, const ReadFile& read) {
  return Search{function, read}.run();
}

}  // namespace tracectl
