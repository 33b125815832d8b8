// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/emulated_places.h"

#include <algorithm>

namespace tracectl {
namespace {

bool may_be_for_one_process(pid_t a, pid_t b) { return a == 0 || b == 0 || a == b; }

bool is_alone(std::span<const EmulatedPlaces::Held> older, pid_t filter) {
  return std::none_of(older.begin(), older.end(), [filter](const EmulatedPlaces::Held& held) {
    return may_be_for_one_process(held.filter, filter);
  });
}

}  // namespace

std::optional<uint32_t> EmulatedPlaces::free_number() {
  if (!free_.empty()) {
    const uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  if (made_ == table_.size()) return std::nullopt;
  return made_++;
}

EmulatedPlaces::Held EmulatedPlaces::add(const EmulatedPlace& place,
                                         const std::optional<tc_instruction>& instruction) {
  const std::lock_guard lock(mutex_);
  auto& here = held_[{place.file, place.offset}];
  Held held{.filter = place.filter, .order = ++orders_};
  if (instruction) held.number = free_number();
  if (held.number) {
    tc_instruction& entry = table_[*held.number];
    entry = *instruction;
    entry.is_active = is_alone(here, place.filter);
  }
  here.push_back(held);
  return held;
}

void EmulatedPlaces::remove(const EmulatedPlace& place, const Held& held) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find({place.file, place.offset});
  if (found == held_.end()) return;
  auto& here = found->second;
  std::erase_if(here, [&](const Held& one) { return one.order == held.order; });
  if (held.number) free_.push_back(*held.number);
  for (size_t i = 0; i < here.size(); ++i)
    if (here[i].number && is_alone(std::span{here}.first(i), here[i].filter))
      __atomic_store_n(&table_[*here[i].number].is_active, 1, __ATOMIC_SEQ_CST);
  if (here.empty()) held_.erase(found);
}

}  // namespace tracectl
