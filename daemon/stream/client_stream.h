// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "daemon/protocol/events.h"
#include "daemon/protocol/hit_text.h"
#include "daemon/stream/bounded_sink.h"

namespace tracectl {

// A session's events on their way to one client, as notification lines.
class ClientStream final : public BoundedSink {
 public:
  // `describe`: describes the named parameters of each probe before its first event.
  // `wake` is called on the reader's thread when lines have come.
  ClientStream(std::string session, bool describe, size_t limit_bytes, std::function<void()> wake)
      : session_(std::move(session)),
        describe_(describe),
        limit_bytes_(limit_bytes),
        wake_(std::move(wake)) {}

  // Appends the lines that have come; any thread.
  void drain(std::string& to);
  // The client has not received this many of the drained bytes; they still count here.
  void set_unsent(size_t bytes);
  uint64_t lost() const { return all_lost_; }

 private:
  bool full() const override { return lines_.size() + unsent_bytes_ >= limit_bytes_; }
  bool empty() const override { return lines_.empty(); }
  void append(const StreamItem& item) override;
  void append(const PlainHit& hit) override;
  void arrived() override { wake_(); }
  void sample_clock();
  void describe(const std::shared_ptr<const EventSource>& source);

  const std::string session_;
  const bool describe_;
  const size_t limit_bytes_;
  const std::function<void()> wake_;
  std::string lines_;
  size_t unsent_bytes_ = 0;  // of the drained ones, at most
  // The source that was described last for each probe. Kept, so that no other one gets its address.
  std::unordered_map<std::string, std::shared_ptr<const EventSource>> reported_;
  const EventSource* last_described_ = nullptr;
  protocol::HitText hits_;
  protocol::WallClock wall_;
};

}  // namespace tracectl
