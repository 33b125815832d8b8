// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/patched_code.h"

#include <algorithm>
#include <array>

#include "daemon/object/aarch64/encoding.h"

namespace tracectl {
namespace {

// brk #5: BRK64_OPCODE_UPROBES (arch/arm64/include/asm/debug-monitors.h, brk-imm.h).
constexpr std::array<uint8_t, kInstructionBytes> kBreakpoint{0xa0, 0x00, 0x20, 0xd4};

}  // namespace

bool is_code_of_file(std::span<const uint8_t> file, std::span<const uint8_t> memory) {
  if (memory.size() != file.size() || memory.empty()) return false;
  for (size_t at = 0; at < file.size(); at += kInstructionBytes) {
    const auto now = memory.subspan(at, std::min(kInstructionBytes, memory.size() - at));
    if (!std::ranges::equal(now, file.subspan(at, now.size())) &&
        !std::ranges::equal(now, kBreakpoint))
      return false;
  }
  return true;
}

}  // namespace tracectl
