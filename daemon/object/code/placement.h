// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>

#include "daemon/base/result.h"
#include "daemon/model/cost.h"
#include "daemon/model/site_costs.h"

namespace tracectl {

struct CodeRange {
  uint64_t address = 0;  // in the file's own address space
  std::span<const uint8_t> bytes;
};

enum class Extent {
  whole,    // the bytes are exactly those of the function (a symbol with a size)
  unknown,  // the function may end before or after the bytes do
};

struct FunctionCode {
  CodeRange body;
  Extent extent = Extent::unknown;
  std::span<const CodeRange> others =
      {};  // further code that can jump into it, such as its .cold part

  bool contains(uint64_t address) const;
};

struct Placement {
  uint64_t moved_bytes = 0;  // from the requested offset to the probe's
  CostClass cost = CostClass::slow;
  uint8_t length = 0;  // of the probed instruction, in bytes

  bool operator==(const Placement&) const = default;
};

// Checks that a probe can be placed at an offset of a function, by decoding from its start: an
// instruction begins there, and the kernel accepts it. A 5-byte nop within a function needs
// nop5_is_safe(), too.
Result<Placement> place(std::span<const uint8_t> function, uint64_t offset_in_function,
                        const SiteCosts& costs = {});

// The cheapest place for a probe on the function's entry: the first instruction or, on x86-64, if
// that is slow, a cheaper one of the straight-line code after it, which runs exactly as often and
// finds rdi, rsi, rdx, rcx, r8 and r9 unchanged. (rsp may have changed there, so stack arguments and
// the return address are at other offsets than at the entry.)
Result<Placement> place_entry(const FunctionCode& function, const SiteCosts& costs = {});

// The cheapest of the nops at a site of <tracectl/usdt.h>. All of them run as often, because the
// site is a function that is entered at its start alone.
Placement place_in_header_site(const SiteCosts& costs);

// Checks that the kernel's conversion of a 5-byte nop into a call cannot overwrite a live red zone.
Status nop5_is_safe(const FunctionCode& function, uint64_t offset_in_function);

}  // namespace tracectl
