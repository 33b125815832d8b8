// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/stream/client_stream.h"

#include <algorithm>

namespace tracectl {
namespace {

constexpr size_t kMostIdleBytes = 2 * ClientStream::kPieceBytes;  // kept by an empty buffer

}  // namespace

void ClientStream::append(const StreamItem& item) {
  sample_clock();
  const auto* event = std::get_if<Event>(&item);
  if (!event) return protocol::append_lost_line(lines(), std::get<Lost>(item), session_);
  if (describe_) describe(event->source);
  protocol::append_event_line(lines(), *event, wall_);
}

void ClientStream::append(const PlainHit& hit) {
  sample_clock();
  if (describe_) describe(*hit.source);
  hits_.append_line(lines(), hit, wall_);
}

// To append to.
std::string& ClientStream::lines() {
  if (pieces_.back().size() >= kPieceBytes) {
    complete_bytes_ += pieces_.back().size();
    pieces_.emplace_back();
  }
  return pieces_.back();
}

// The clock may have been set since the last lines were taken.
void ClientStream::sample_clock() {
  if (empty()) wall_.sample();
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
  if (was_reported || is_worth_sending(*source)) protocol::append_probe_line(lines(), *source);
}

void ClientStream::drain(std::string& to) {
  const std::lock_guard lock(mutex_);
  // Reports a loss at the end now, not with the next event.
  report_loss();
  std::string& piece = pieces_.front();
  unsent_bytes_ += piece.size();
  if (pieces_.size() > 1) complete_bytes_ -= piece.size();
  if (to.empty())
    to.swap(piece);
  else
    to += piece;
  piece.clear();
  if (pieces_.size() > 1)
    pieces_.pop_front();
  else if (piece.capacity() > kMostIdleBytes)
    piece.shrink_to_fit();
  wall_.sample();
}

bool ClientStream::has_lines() const {
  const std::lock_guard lock(mutex_);
  return !empty();
}

bool ClientStream::has_more() const {
  const std::lock_guard lock(mutex_);
  return !empty() || has_lost();
}

void ClientStream::set_unsent(size_t bytes) {
  const std::lock_guard lock(mutex_);
  unsent_bytes_ = std::min(unsent_bytes_, bytes);
}

}  // namespace tracectl
