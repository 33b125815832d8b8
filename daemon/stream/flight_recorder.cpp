// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/stream/flight_recorder.h"

#include <algorithm>
#include <utility>

#include "daemon/base/clock.h"

namespace tracectl {

using namespace recording;

namespace {

uint64_t time_of(const StreamItem& item) {
  return std::visit([](const auto& part) { return part.ts_ns; }, item);
}

uint64_t bytes_of(const std::vector<Lost>& losses) { return losses.size() * sizeof(Lost); }

void erase_ended(std::vector<Lost>& losses, uint64_t by_ns) {
  std::erase_if(losses, [&](const Lost& lost) { return lost.until_ns <= by_ns; });
}

FlightRecorder::Extent extent_of(const std::vector<Lost>& losses) {
  Encoder encoder;
  FlightRecorder::Extent extent;
  for (const Lost& lost : losses) {
    encoder.add(lost);
    extent.lost += lost.count;
  }
  encoder.end_all();
  extent.blocks = encoder.take();
  return extent;
}

}  // namespace

void FlightRecorder::take(std::span<const StreamItem> items) {
  const std::lock_guard lock(mutex_);
  for (const StreamItem& item : items) {
    encoder_.add(item);
    count(item);
    if (encoder_.has_ended()) keep_ended();
    if (is_extent_full()) end_extent();
    forget_old(open_.last_ns);
  }
}

FlightRecorder::Snapshot FlightRecorder::snapshot() {
  const std::lock_guard lock(mutex_);
  end_extent();
  const uint64_t now_ns = boot_ns();
  forget_old(now_ns);
  if (!ended_.empty())
    erase_ended(carried_, ended_.front()->first_ns);
  else if (bound_.ns)
    erase_ended(carried_, now_ns - std::min(now_ns, *bound_.ns));
  Snapshot all;
  if (!carried_.empty()) all.push_back(std::make_shared<const Extent>(extent_of(carried_)));
  all.insert(all.end(), ended_.begin(), ended_.end());
  return all;
}

FlightRecorder::State FlightRecorder::state() const {
  const std::lock_guard lock(mutex_);
  State state{.bytes = ended_bytes_ + open_bytes() + bytes_of(carried_),
              .events = open_.events,
              .lost = open_.lost,
              .first_ns = ended_.empty() ? open_.first_ns : ended_.front()->first_ns,
              .last_ns = open_.last_ns,
              .overwritten = overwritten_};
  for (const auto& extent : ended_) {
    state.events += extent->events;
    state.lost += extent->lost;
    state.last_ns = std::max(state.last_ns, extent->last_ns);
  }
  for (const Lost& lost : carried_) state.lost += lost.count;
  return state;
}

void FlightRecorder::count(const StreamItem& item) {
  const uint64_t ts_ns = time_of(item);
  if (open_.first_ns == 0) open_.first_ns = ts_ns;
  open_.last_ns = std::max(open_.last_ns, ts_ns);
  if (const auto* lost = std::get_if<Lost>(&item)) {
    open_.lost += lost->count;
    if (lost->until_ns > ts_ns) open_.reaching.push_back(*lost);
  } else {
    ++open_.events;
  }
}

void FlightRecorder::keep_ended() {
  for (Block& block : encoder_.take()) {
    block.records.shrink_to_fit();
    open_.bytes += sizeof(Block) + block.records.size();
    open_.blocks.push_back(std::move(block));
  }
}

uint64_t FlightRecorder::open_bytes() const {
  return open_.bytes + encoder_.open_bytes() + bytes_of(open_.reaching);
}

bool FlightRecorder::is_extent_full() const {
  if (open_bytes() >= bound_.bytes / kExtents) return true;
  return bound_.ns && open_.last_ns - open_.first_ns >= *bound_.ns / kExtents;
}

// Ends it at the same moment for all CPUs.
void FlightRecorder::end_extent() {
  encoder_.end_all();
  keep_ended();
  encoder_.begin_anew();
  if (open_.blocks.empty()) return;
  erase_ended(open_.reaching, open_.last_ns);
  open_.reaching.shrink_to_fit();
  open_.bytes += sizeof(Extent) + bytes_of(open_.reaching);
  ended_bytes_ += open_.bytes;
  ended_.push_back(std::make_shared<const Extent>(std::exchange(open_, Extent{})));
}

void FlightRecorder::forget_old(uint64_t now_ns) {
  const auto is_too_much = [&] {
    return ended_bytes_ + open_bytes() + bytes_of(carried_) > bound_.bytes;
  };
  while (!ended_.empty() && is_too_much()) forget_first();
  if (!bound_.ns) return;
  while (!ended_.empty() && ended_.front()->last_ns + *bound_.ns < now_ns) forget_first();
}

// No event that stays is older than the last of the first extent.
void FlightRecorder::forget_first() {
  const Extent& first = *ended_.front();
  erase_ended(carried_, first.last_ns);
  carried_.insert(carried_.end(), first.reaching.begin(), first.reaching.end());
  ended_bytes_ -= first.bytes;
  overwritten_ += first.events;
  ended_.pop_front();
}

}  // namespace tracectl
