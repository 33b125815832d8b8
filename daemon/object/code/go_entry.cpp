// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/go_entry.h"

#include <algorithm>
#include <optional>

#include "daemon/object/code/listing.h"

namespace tracectl {
namespace {

constexpr size_t kMostStepsOfCheck = 10;

Error passes_entry_again() {
  return Error{
      Code::unsupported,
      "its entry is within a loop of it, so a probe there would count the loop's rounds as "
      "calls"};
}

bool jumps_to(const CodeStep& step, uint64_t address) {
  return step.has_target && step.flow != Flow::call && step.target == address;
}

// The first step of the code that asks for a larger stack and ends with the jump `last`: one call, and moves.
size_t first_of_growing(const Listing& listing, size_t last) {
  size_t first = last;
  const auto leads_on = [&](size_t step) {
    return listing[step].flow == Flow::next || listing[step].flow == Flow::call;
  };
  while (first > 0 && listing[first].jumps_here == 0 && leads_on(first - 1)) --first;
  return first;
}

// The number of the step behind the check, whose jumps lead to `growing`; none if it is no such check.
std::optional<size_t> behind_check(const Listing& listing, size_t growing) {
  std::optional<size_t> behind;
  uint32_t jumps = 0;
  for (size_t i = 0; i < std::min(listing.size(), kMostStepsOfCheck); ++i) {
    if (i > 0 && listing[i].jumps_here) break;
    const bool is_check =
        listing[i].flow == Flow::conditional && jumps_to(listing[i], listing[growing].address);
    if (!is_check && listing[i].flow != Flow::next) break;
    if (is_check) behind = i + 1;
    jumps += is_check;
  }
  const bool is_all = jumps == listing[growing].jumps_here;
  if (!behind || !is_all || *behind >= growing || listing[*behind].jumps_here) return std::nullopt;
  return behind;
}

}  // namespace

Result<uint64_t> go_entry(const FunctionCode& function) {
  const auto listing = Listing::of(function);
  if (!listing) return listing.error();
  const auto& steps = listing->steps();
  const auto starts_again = [&](const CodeStep& step) {
    return jumps_to(step, function.body.address);
  };
  const auto jump = std::ranges::find_if(steps, starts_again);
  if (jump == steps.end()) return uint64_t{0};
  if (jump->flow != Flow::jump || std::find_if(jump + 1, steps.end(), starts_again) != steps.end())
    return passes_entry_again();
  const size_t growing = first_of_growing(*listing, static_cast<size_t>(jump - steps.begin()));
  const auto behind = behind_check(*listing, growing);
  if (!behind) return passes_entry_again();
  return steps[*behind].address - function.body.address;
}

Result<Placement> place_go_entry(const FunctionCode& function, const SiteCosts& costs) {
  const auto entry = go_entry(function);
  if (!entry) return entry.error();
  auto placed = place(function.body.bytes, *entry, costs);
  if (placed) placed->moved_bytes = *entry;
  return placed;
}

}  // namespace tracectl
