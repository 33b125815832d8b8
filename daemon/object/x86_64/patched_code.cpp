// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/patched_code.h"

#include <algorithm>
#include <array>

#include "daemon/object/code/instruction.h"

namespace tracectl {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr uint8_t kBreakpoint = 0xCC;
constexpr uint8_t kCall = 0xE8;  // Linux 6.18 to 7.1 turn a probed 5-byte nop into a call
constexpr size_t kCompared = 5;  // bytes

// lea -128(%rsp),%rsp. Linux 7.2 turns a probed 10-byte nop into this and a call. When the probe is disarmed, the nop's
// first five bytes come back, and the call stays as the rest of the nop (seen on 7.2 and 7.3).
constexpr std::array<uint8_t, 5> kStepOverRedZone{0x48, 0x8d, 0x64, 0x24, 0x80};

bool is_kept_or_breakpoint(uint8_t of_file, uint8_t of_memory) {
  return of_memory == of_file || of_memory == kBreakpoint;
}

bool is_nop10_of_file(Bytes file, Bytes memory) {
  if (!is_nop10(file)) return false;
  const Bytes first = memory.first(kStepOverRedZone.size());
  return std::ranges::equal(kStepOverRedZone, first, is_kept_or_breakpoint) ||
         std::ranges::equal(file.first(first.size()), first, is_kept_or_breakpoint);
}

}  // namespace

bool is_code_of_file(Bytes file, Bytes memory) {
  if (memory.size() != file.size() || memory.empty()) return false;
  if (memory[0] == kCall && is_nop5(file)) return true;
  for (size_t i = 0; i < std::min(kCompared, file.size()); ++i) {
    if (is_nop10_of_file(file.subspan(i), memory.subspan(i))) return true;
    if (!is_kept_or_breakpoint(file[i], memory[i])) return false;
  }
  return true;
}

}  // namespace tracectl
