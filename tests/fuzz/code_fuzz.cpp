// SPDX-License-Identifier: BSD-2-Clause
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "daemon/code/instruction.h"
#include "daemon/code/placement.h"

// Input: one byte where to cut off the function's other part, one byte of offset, then code.
// What is answered must lie within the function and be an instruction the room itself accepts.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tracectl;
  if (size < 2) return 0;
  std::span<const uint8_t> code{data + 2, size - 2};
  size_t cut = data[0] < code.size() ? data[0] : code.size();
  CodeRange other{0x1000 + cut, code.subspan(cut)};
  FunctionCode function{
      .body = {0x1000, code.first(cut)}, .extent = Extent::whole, .others = {&other, 1}};
  if (auto placement = place_entry(function)) {
    auto again = place(function.body.bytes, placement->moved_bytes);
    if (!again || again->cost != placement->cost || again->length != placement->length)
      std::abort();
    if (placement->moved_bytes + placement->length > cut) std::abort();
  }
  if (auto placement = place(code, data[1]); placement && data[1] + placement->length > code.size())
    std::abort();
  static_cast<void>(nop5_is_safe(function, data[1]).has_value());
  return 0;
}
