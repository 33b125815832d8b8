// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/caller.h"

#include "daemon/object/code/stack_height.h"
#include "daemon/object/x86_64/decoder.h"

namespace tracectl {
namespace {

constexpr uint64_t kMostBytes = 256;  // of entry code to decode
constexpr int64_t kMostWords = 254;   // the limit of tc_hook

}  // namespace

std::optional<unsigned> words_below_caller(std::span<const uint8_t> function, uint64_t offset) {
  if (offset > kMostBytes || offset >= function.size()) return std::nullopt;
  StackHeight height;
  for (uint64_t at = 0; at < offset;) {
    const auto instruction = decode_shape(function.subspan(at));
    if (!instruction || relative_target(*instruction) || is_call(*instruction) ||
        is_indirect_jump(*instruction))
      return std::nullopt;
    CodeStep step;
    step.bytes = function.subspan(at, instruction->length);
    step.moves_stack = true;
    height = after(step, height);
    at += instruction->length;
    if (at > offset) return std::nullopt;
  }
  if (!height.bytes || height.frame || *height.bytes < 0 || *height.bytes % 8) return std::nullopt;
  const int64_t words = *height.bytes / 8;
  return words > kMostWords ? std::nullopt : std::optional(static_cast<unsigned>(words));
}

}  // namespace tracectl
