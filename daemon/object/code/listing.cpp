// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/listing.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>

namespace tracectl {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
std::string hex(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

}  // namespace

Error no_exits(uint64_t address, const std::string& why) {
  return Error{Code::unsupported, "where the function returns is unknown: at " + hex(address) +
                                      " " + why + "; trace its entry"};
}

Result<Listing> Listing::of(const FunctionCode& function) {
  Listing listing;
  if (auto added = listing.add(function.body); !added) return added.error();
  for (const CodeRange& other : function.others)
    if (auto added = listing.add(other); !added) return added.error();
  if (auto checked = listing.check_targets(); !checked) return checked.error();
  return listing;
}

Status Listing::add(const CodeRange& range) {
  const size_t first_byte = step_of_byte_.size();
  ranges_.push_back({range.address, range.bytes.size(), first_byte});
  step_of_byte_.resize(first_byte + range.bytes.size(), kNone);
  for (size_t position = 0; position < range.bytes.size();) {
    const uint64_t address = range.address + position;
    const auto step = step_at(address, range.bytes.subspan(position));
    if (!step)
      return no_exits(address, "the bytes are no instruction, so what follows cannot be decoded");
    step_of_byte_[first_byte + position] = static_cast<uint32_t>(steps_.size());
    steps_.push_back(*step);
    loads_by_index_ |= step->loads_by_index;
    position += step->bytes.size();
  }
  return ok();
}

Status Listing::check_targets() {
  for (size_t i = 0; i < steps_.size(); ++i)
    if (steps_[i].has_target && contains(steps_[i].target))
      if (auto checked = check_target(steps_[i], i); !checked) return checked;
  return ok();
}

Status Listing::check_target(const CodeStep& from, size_t index) {
  auto target = at(from.target);
  if (!target) return no_exits(from.address, "it jumps into the middle of an instruction");
  if (from.flow == Flow::call && *target != 0)
    return no_exits(from.address,
                    "it calls a place within the function, so a ret need not leave the function");
  if (from.flow == Flow::call) return ok();
  ++steps_[*target].jumps_here;
  steps_[*target].last_jump_here = static_cast<uint32_t>(index);
  return ok();
}

const Listing::Range* Listing::range_of(uint64_t address) const {
  auto holds = [&](const Range& range) { return address - range.address < range.size; };
  auto found = std::ranges::find_if(ranges_, holds);
  return found == ranges_.end() ? nullptr : &*found;
}

bool Listing::contains(uint64_t address) const { return range_of(address) != nullptr; }

std::optional<size_t> Listing::at(uint64_t address) const {
  const Range* range = range_of(address);
  if (range == nullptr) return std::nullopt;
  uint64_t offset = address - range->address;
  uint32_t step = step_of_byte_[range->first_byte + offset];
  if (step == kNone && offset > 0) step = step_without_prefix(range->first_byte + offset - 1);
  return step == kNone ? std::nullopt : std::optional<size_t>{step};
}

// glibc jumps over a lock prefix if there is only one thread.
uint32_t Listing::step_without_prefix(size_t byte) const {
  uint32_t step = step_of_byte_[byte];
  return step != kNone && steps_[step].prefix_bytes == 1 ? step : kNone;
}

std::optional<size_t> Listing::behind(size_t index) const { return at(steps_[index].end()); }

std::optional<size_t> Listing::only_before(size_t index) const {
  const CodeStep& step = steps_[index];
  bool is_behind_another = index > 0 && steps_[index - 1].end() == step.address;
  Flow flow = is_behind_another ? steps_[index - 1].flow : Flow::nothing;
  bool is_fallen_into = flow == Flow::next || flow == Flow::call || flow == Flow::conditional ||
                        flow == Flow::odd_branch;
  if (is_fallen_into) return step.jumps_here == 0 ? std::optional{index - 1} : std::nullopt;
  if (index == 0 || step.jumps_here != 1) return std::nullopt;
  return step.last_jump_here;
}

}  // namespace tracectl
