// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>

#include "daemon/base/result.h"
#include "daemon/model/cost.h"

namespace tracectl {

struct CodeRange {
  uint64_t address = 0;  // in the file's own address space
  std::span<const uint8_t> bytes;
};

enum class Extent {
  whole,    // the bytes are those of the function, all of them and no others (a symbol with a size)
  unknown,  // the function may end before the bytes do, or after
};

struct FunctionCode {
  CodeRange body;
  Extent extent = Extent::unknown;
  std::span<const CodeRange> others =
      {};  // further code that can jump into it: its .cold part, say
};

struct Placement {
  uint64_t moved_bytes = 0;  // from where the probe was asked for to where it is to be put
  CostClass cost = CostClass::slow;
  uint8_t length = 0;  // of the instruction there, bytes

  bool operator==(const Placement&) const = default;
};

// Proves that a probe can be put at an offset of a function, by decoding from its start: an
// instruction starts there and the kernel accepts it. A 5-byte nop within a function needs
// nop5_is_safe() as well.
Result<Placement> place(std::span<const uint8_t> function, uint64_t offset_in_function);

// The cheapest place for a probe on the function's entry: the first instruction or, where that is
// slow, a cheaper one of the straight-line code behind it that is executed exactly as often and
// finds rdi, rsi, rdx, rcx, r8 and r9 unchanged. (rsp may differ by then, so stack arguments and
// the return address do not stand where they do at the entry.)
Result<Placement> place_entry(const FunctionCode& function);

// Whether the kernel's conversion of a 5-byte nop into a call cannot hit a live red zone.
Status nop5_is_safe(const FunctionCode& function, uint64_t offset_in_function);

}  // namespace tracectl
