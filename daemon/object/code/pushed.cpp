// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/pushed.h"

#include <algorithm>

#include "daemon/object/code/listing.h"
#include "daemon/object/code/stack_height.h"

namespace tracectl {

std::optional<uint32_t> pushed_before(const CodeRange& function, uint64_t offset) {
  if (offset == 0) return 0;
  if (offset > function.bytes.size()) return std::nullopt;
  auto entry = Listing::of(
      {.body = {function.address, function.bytes.first(offset)}, .extent = Extent::whole});
  if (!entry) return std::nullopt;
  StackHeight height;
  for (const CodeStep& step : entry->steps()) height = after(step, height);
  if (!height.bytes || *height.bytes < 0) return std::nullopt;
  return static_cast<uint32_t>(*height.bytes);
}

bool is_leaf(const FunctionCode& function) {
  if (function.extent != Extent::whole) return false;
  auto listing = Listing::of(function);
  if (!listing) return false;
  return std::ranges::all_of(listing->steps(), [&](const CodeStep& step) {
    switch (step.flow) {
      case Flow::next: return leaves_return_address_alone(step);
      case Flow::ret:
      case Flow::nothing: return true;
      case Flow::conditional:
      case Flow::odd_branch:
      case Flow::jump: return listing->contains(step.target);
      default: return false;
    }
  });
}

}  // namespace tracectl
