// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/stack_height.h"

#include "daemon/object/aarch64/decoder.h"
#include "daemon/object/aarch64/encoding.h"

namespace tracectl {
namespace {

using Height = std::optional<int64_t>;

constexpr int64_t kMost = int64_t{1} << 40;  // a greater height is taken as unknown

Height plus(Height height, int64_t bytes) {
  if (!height) return std::nullopt;
  const int64_t sum = *height + bytes;
  return sum > kMost || sum < -kMost ? std::nullopt : Height{sum};
}

Height height_in(uint8_t number, const StackHeight& height) {
  if (number == kStackNumber) return height.bytes;
  return number == kFrameNumber ? height.frame : std::nullopt;
}

// A sum of the stack or frame pointer and a number, which moves between them are, too; not known for any other value.
Height height_of_result(uint32_t word, const StackHeight& before) {
  if (!is(word, kAddNumber) && !is(word, kSubNumber)) return std::nullopt;
  return plus(height_in(base_register(word), before), -number_added(word));
}

// How far a load or store moves its base register, if it does.
std::optional<int64_t> base_moved(uint32_t word) {
  if (is(word, kStorePairWithTag)) return std::nullopt;
  if (is(word, kLoadPair) && bits(word, 23, 1) != 0) {
    const unsigned size = is(word, kVector) ? bits(word, 30, 2) : bits(word, 31, 1);
    return signed_bits(word, 15, 7) * (int64_t{4} << size);
  }
  if (is(word, kLoadSigned) && bits(word, 10, 1) != 0) return signed_bits(word, 12, 9);
  return std::nullopt;
}

Height height_after(uint32_t word, const StackHeight& before) {
  if (const auto moved = base_moved(word)) return plus(before.bytes, -*moved);
  return height_of_result(word, before);
}

}  // namespace

StackHeight after(const CodeStep& step, const StackHeight& before) {
  if (!step.moves_stack) return before;
  const auto word = instruction_in(step.bytes);
  if (!word) return {std::nullopt, std::nullopt};
  StackHeight now = before;
  if (writes_stack_pointer(*word)) now.bytes = height_after(*word, before);
  if (may_write(*word, kFrameNumber)) now.frame = height_of_result(*word, before);
  return now;
}

}  // namespace tracectl
