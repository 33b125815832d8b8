// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/stream/client_stream.h"

#include <algorithm>

namespace tracectl {
namespace {

constexpr size_t kMostIdleBytes = 1 << 20;  // kept by an empty buffer

}  // namespace

void ClientStream::append(const StreamItem& item) {
  sample_clock();
  const auto* event = std::get_if<Event>(&item);
  if (!event) return protocol::append_lost_line(lines_, std::get<Lost>(item), session_);
  if (describe_) describe(event->source);
  protocol::append_event_line(lines_, *event, wall_);
}

void ClientStream::append(const PlainHit& hit) {
  sample_clock();
  if (describe_) describe(*hit.source);
  hits_.append_line(lines_, hit, wall_);
}

// The clock may have been set since the last lines were taken.
void ClientStream::sample_clock() {
  if (lines_.empty()) wall_.sample();
}

void ClientStream::describe(const std::shared_ptr<const EventSource>& source) {
  const auto is_worth_sending = [](const EventSource& one) {
    return one.result || std::any_of(one.arguments.begin(), one.arguments.end(),
                                     [](const Argument& a) { return !a.name.empty(); });
  };
  if (last_described_ == source.get()) return;
  last_described_ = source.get();
  auto& reported = reported_[source->probe];
  if (reported == source) return;
  const bool was_reported = reported && is_worth_sending(*reported);
  reported = source;
  if (was_reported || is_worth_sending(*source)) protocol::append_probe_line(lines_, *source);
}

void ClientStream::drain(std::string& to) {
  const std::lock_guard lock(mutex_);
  // Reports a loss at the end now, not with the next event.
  report_loss();
  unsent_bytes_ += lines_.size();
  if (to.empty())
    to.swap(lines_);
  else
    to += lines_;
  lines_.clear();
  if (lines_.capacity() > kMostIdleBytes) lines_.shrink_to_fit();
  wall_.sample();
}

void ClientStream::set_unsent(size_t bytes) {
  const std::lock_guard lock(mutex_);
  unsent_bytes_ = std::min(unsent_bytes_, bytes);
}

}  // namespace tracectl
