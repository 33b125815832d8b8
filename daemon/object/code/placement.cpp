// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/placement.h"

#include <algorithm>
#include <string>

#include "daemon/object/code/instruction.h"

namespace tracectl {
namespace {

std::string at(uint64_t offset) { return "+" + std::to_string(offset); }

Error undecodable(uint64_t offset) {
  return Error{Code::unsupported,
               "the bytes at " + at(offset) +
                   " of the function are no instruction, so what follows cannot be decoded; "
                   "probe its entry"};
}

Error within(uint64_t offset, uint64_t start, uint64_t length) {
  return Error{Code::invalid, "no instruction starts at " + at(offset) +
                                  ": it is within the one from " + at(start) + " to " +
                                  at(start + length) + "; use one of these"};
}

// Fails unless decoding from the function's start arrives at `offset`.
Status check_boundary(std::span<const uint8_t> function, uint64_t offset) {
  uint64_t position = 0;
  while (position < offset) {
    const auto instruction = decode_instruction(function.subspan(position));
    if (!instruction) return undecodable(position);
    if (position + instruction->length > offset)
      return within(offset, position, instruction->length);
    position += instruction->length;
  }
  return ok();
}

}  // namespace

bool FunctionCode::contains(uint64_t address) const {
  const auto holds = [&](const CodeRange& range) {
    return address - range.address < range.bytes.size();
  };
  return holds(body) || std::ranges::any_of(others, holds);
}

Result<Placement> place(std::span<const uint8_t> function, uint64_t offset,
                        const SiteCosts& costs) {
  if (offset >= function.size())
    return Error{Code::invalid, at(offset) + " is outside the function, whose code ends at " +
                                    at(function.size())};
  if (auto boundary = check_boundary(function, offset); !boundary) return boundary.error();
  auto instruction = decode_instruction(function.subspan(offset), costs);
  if (!instruction) return undecodable(offset);
  if (instruction->refusal != nullptr)
    return Error{Code::unsupported, "no probe can sit on the instruction at " + at(offset) + ": " +
                                        instruction->refusal + "; choose a neighbouring one"};
  if (is_in_exclusive_access(function, offset))
    return Error{Code::unsupported,
                 "a probe at " + at(offset) +
                     " would be within an exclusive access, which the program would repeat for "
                     "ever; choose a place before or after it"};
  return Placement{0, instruction->cost, instruction->length};
}

}  // namespace tracectl
