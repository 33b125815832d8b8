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
  forget_old(boot_ns());
  return {ended_.begin(), ended_.end()};
}

FlightRecorder::State FlightRecorder::state() const {
  const std::lock_guard lock(mutex_);
  State state{.bytes = ended_bytes_ + open_bytes(),
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
  return state;
}

void FlightRecorder::count(const StreamItem& item) {
  const uint64_t ts_ns = time_of(item);
  if (open_.first_ns == 0) open_.first_ns = ts_ns;
  open_.last_ns = std::max(open_.last_ns, ts_ns);
  if (const auto* lost = std::get_if<Lost>(&item))
    open_.lost += lost->count;
  else
    ++open_.events;
}

void FlightRecorder::keep_ended() {
  for (Block& block : encoder_.take()) {
    block.records.shrink_to_fit();
    open_.bytes += sizeof(Block) + block.records.size();
    open_.blocks.push_back(std::move(block));
  }
}

uint64_t FlightRecorder::open_bytes() const { return open_.bytes + encoder_.open_bytes(); }

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
  open_.bytes += sizeof(Extent);
  ended_bytes_ += open_.bytes;
  ended_.push_back(std::make_shared<const Extent>(std::exchange(open_, Extent{})));
}

void FlightRecorder::forget_old(uint64_t now_ns) {
  while (!ended_.empty() && ended_bytes_ + open_bytes() > bound_.bytes) forget_first();
  if (!bound_.ns) return;
  while (!ended_.empty() && ended_.front()->last_ns + *bound_.ns < now_ns) forget_first();
}

void FlightRecorder::forget_first() {
  ended_bytes_ -= ended_.front()->bytes;
  overwritten_ += ended_.front()->events;
  ended_.pop_front();
}

}  // namespace tracectl
