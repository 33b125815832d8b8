// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/x86_64/listing.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>

#include "daemon/object/x86_64/decoder.h"

namespace tracectl {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
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
  return step;
}

std::string hex(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

}  // namespace

Error no_exits(uint64_t address, const std::string& why) {
  return Error{Code::unsupported, "where the function returns is unknown: at " + hex(address) +
                                      " " + why + "; trace its entry"};
}

Result<Listing> Listing::of(const FunctionCode& function) {
  Listing listing;
  if (auto added = listing.add(function.body); !added) return added.error();
  for (const CodeRange& other : function.others)
    if (auto added = listing.add(other); !added) return added.error();
  if (auto checked = listing.check_targets(); !checked) return checked.error();
  return listing;
}

Status Listing::add(const CodeRange& range) {
  const size_t first_byte = step_of_byte_.size();
  ranges_.push_back({range.address, range.bytes.size(), first_byte});
  step_of_byte_.resize(first_byte + range.bytes.size(), kNone);
  for (size_t position = 0; position < range.bytes.size();) {
    auto instruction = decode_shape(range.bytes.subspan(position));
    const uint64_t address = range.address + position;
    if (!instruction)
      return no_exits(address, "the bytes are no instruction, so what follows cannot be decoded");
    step_of_byte_[first_byte + position] = static_cast<uint32_t>(steps_.size());
    steps_.push_back(
        step_of(*instruction, address, range.bytes.subspan(position, instruction->length)));
    loads_by_index_ |= steps_.back().loads_by_index;
    position += instruction->length;
  }
  return ok();
}

Status Listing::check_targets() {
  for (size_t i = 0; i < steps_.size(); ++i)
    if (steps_[i].has_target && contains(steps_[i].target))
      if (auto checked = check_target(steps_[i], i); !checked) return checked;
  return ok();
}

Status Listing::check_target(const CodeStep& from, size_t index) {
  auto target = at(from.target);
  if (!target) return no_exits(from.address, "it jumps into the middle of an instruction");
  if (from.flow == Flow::call && *target != 0)
    return no_exits(from.address,
                    "it calls a place within the function, so a ret need not leave the function");
  if (from.flow == Flow::call) return ok();
  ++steps_[*target].jumps_here;
  steps_[*target].last_jump_here = static_cast<uint32_t>(index);
  return ok();
}

const Listing::Range* Listing::range_of(uint64_t address) const {
  auto holds = [&](const Range& range) { return address - range.address < range.size; };
  auto found = std::ranges::find_if(ranges_, holds);
  return found == ranges_.end() ? nullptr : &*found;
}

bool Listing::contains(uint64_t address) const { return range_of(address) != nullptr; }

std::optional<size_t> Listing::at(uint64_t address) const {
  const Range* range = range_of(address);
  if (range == nullptr) return std::nullopt;
  uint64_t offset = address - range->address;
  uint32_t step = step_of_byte_[range->first_byte + offset];
  if (step == kNone && offset > 0) step = step_without_lock(range->first_byte + offset - 1);
  return step == kNone ? std::nullopt : std::optional<size_t>{step};
}

// glibc jumps over a lock prefix if there is only one thread. That is the same instruction, so the
// same step.
uint32_t Listing::step_without_lock(size_t byte) const {
  uint32_t step = step_of_byte_[byte];
  return step != kNone && steps_[step].bytes[0] == kLock ? step : kNone;
}

std::optional<size_t> Listing::behind(size_t index) const { return at(steps_[index].end()); }

}  // namespace tracectl
