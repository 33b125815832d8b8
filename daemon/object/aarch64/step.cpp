// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/step.h"

#include "daemon/object/aarch64/decoder.h"
#include "daemon/object/aarch64/encoding.h"

namespace tracectl {
namespace {

Flow flow_of(uint32_t word) {
  if (is_call(word)) return Flow::call;
  if (is_return(word)) return Flow::ret;
  if (is_indirect_jump(word)) return Flow::indirect;
  if (is(word, kB)) return Flow::jump;
  if (is(word, kBCond) || is(word, kBcCond)) return Flow::conditional;
  if (relative_target(word)) return Flow::odd_branch;
  if (is(word, kEret) || is(word, kEretAuth) || is(word, kDrps)) return Flow::far_away;
  const bool raises = is(word, kException) && !is(word, kSvc);
  return raises || is(word, kUdf) ? Flow::nothing : Flow::next;
}

// ldrb, ldrh, ldrsw and ldr with an index, scaled by what they load: they read jump tables.
bool loads_by_index(uint32_t word) {
  const bool is_load = is(word, kLoadByRegister) && !is(word, kVector) && bits(word, 22, 2) != 0;
  return is_load && (bits(word, 30, 2) == 0 || is_index_scaled(word));
}

}  // namespace

std::optional<CodeStep> step_at(uint64_t address, std::span<const uint8_t> bytes) {
  const auto word = address % kInstructionBytes == 0 ? instruction_in(bytes) : std::nullopt;
  if (!word) return std::nullopt;
  CodeStep step{.address = address, .bytes = bytes.first(kInstructionBytes)};
  const auto distance = relative_target(*word);
  step.has_target = distance.has_value();
  if (distance) step.target = address + static_cast<uint64_t>(*distance);
  step.flow = flow_of(*word);
  step.moves_stack = writes_stack_pointer(*word) || may_write(*word, kFrameNumber);
  step.loads_by_index = loads_by_index(*word);
  return step;
}

bool is_nop(const CodeStep& step) {
  const auto word = instruction_in(step.bytes);
  return word && is(*word, kNop);
}

uint8_t condition_of(const CodeStep& step) {
  const auto word = instruction_in(step.bytes);
  return word ? static_cast<uint8_t>(bits(*word, 0, 4)) : uint8_t{0};
}

bool leaves_return_address_alone(const CodeStep& step) {
  const auto word = instruction_in(step.bytes);
  return word && !is(*word, kSvc) && !writes_stack_pointer(*word) && !may_use(*word, kLinkNumber);
}

}  // namespace tracectl
