// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/caller.h"

#include "daemon/object/aarch64/decoder.h"
#include "daemon/object/aarch64/encoding.h"

namespace tracectl {
namespace {

constexpr uint64_t kMostBytes = 256;  // of entry code to decode

// paciasp, pacibsp: the readers of stacks remove the signature.
bool is_signing(uint32_t word) {
  return is(word, kHint) && (hint_of(word) == 25 || hint_of(word) == 27);
}

bool leads_elsewhere(uint32_t word) {
  return relative_target(word) || is_call(word) || is_indirect_jump(word) || is_return(word);
}

}  // namespace

std::optional<unsigned> words_below_caller(std::span<const uint8_t> function, uint64_t offset) {
  if (offset > kMostBytes || offset >= function.size() || offset % kInstructionBytes != 0)
    return std::nullopt;
  for (uint64_t at = 0; at < offset; at += kInstructionBytes) {
    const auto word = instruction_in(function.subspan(at));
    if (!word || leads_elsewhere(*word) || may_write(*word, kFrameNumber) ||
        (may_write(*word, kLinkNumber) && !is_signing(*word)))
      return std::nullopt;
  }
  return 0;
}

}  // namespace tracectl
