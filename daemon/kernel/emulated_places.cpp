// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/emulated_places.h"

#include <algorithm>

namespace tracectl {
namespace {

bool may_be_for_one_process(pid_t a, pid_t b) { return a == 0 || b == 0 || a == b; }

}  // namespace

std::optional<uint32_t> EmulatedPlaces::free_number() {
  if (made_ < table_.size()) return made_++;
  if (free_.empty()) return std::nullopt;
  const uint32_t number = free_.front();
  free_.pop_front();
  return number;
}

bool EmulatedPlaces::is_alone(ino_t file, std::span<const Held> older, pid_t filter) const {
  return !left_to_kernel_.contains(file) &&
         std::none_of(older.begin(), older.end(), [filter](const Held& held) {
           return may_be_for_one_process(held.filter, filter);
         });
}

void EmulatedPlaces::set_active(const Held& held, bool is_active) {
  __atomic_store_n(&table_[*held.number].is_active, is_active, __ATOMIC_SEQ_CST);
}

void EmulatedPlaces::activate(const Key& key, std::span<const Held> here) {
  for (size_t i = 0; i < here.size(); ++i)
    if (here[i].number && is_alone(key.first, here.first(i), here[i].filter))
      set_active(here[i], true);
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
    entry.is_active = is_alone(place.file, here, place.filter);
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
  if (held.number) {
    set_active(held, false);
    free_.push_back(*held.number);
  }
  activate(found->first, here);
  if (here.empty()) held_.erase(found);
}

void EmulatedPlaces::leave_to_kernel(ino_t file) {
  const std::lock_guard lock(mutex_);
  left_to_kernel_.insert(file);
}

void EmulatedPlaces::give_back(ino_t file) {
  const std::lock_guard lock(mutex_);
  if (const auto found = left_to_kernel_.find(file); found != left_to_kernel_.end())
    left_to_kernel_.erase(found);
  for (auto at = held_.lower_bound({file, 0}); at != held_.end() && at->first.first == file; ++at)
    activate(at->first, at->second);
}

}  // namespace tracectl
