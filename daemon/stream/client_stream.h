// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <deque>
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

  // A piece is complete when it has this many bytes: it is a little longer.
  static constexpr size_t kPieceBytes = 1 << 20;

  // Appends the oldest piece of the lines that have come; any thread.
  void drain(std::string& to);
  bool has_lines() const;
  bool has_more() const;  // lines, or a loss to report
  // The client has not received this many of the drained bytes; they still count here.
  void set_unsent(size_t bytes);
  uint64_t lost() const { return all_lost_; }

 private:
  bool full() const override { return bytes() + unsent_bytes_ >= limit_bytes_; }
  bool empty() const override { return bytes() == 0; }
  void append(const StreamItem& item) override;
  void append(const PlainHit& hit) override;
  void arrived() override { wake_(); }
  size_t bytes() const { return complete_bytes_ + pieces_.back().size(); }
  std::string& lines();
  void sample_clock();
  void describe(const std::shared_ptr<const EventSource>& source);

  const std::string session_;
  const bool describe_;
  const size_t limit_bytes_;
  const std::function<void()> wake_;
  std::deque<std::string> pieces_{1};
  size_t complete_bytes_ = 0;  // of all pieces but the last
  size_t unsent_bytes_ = 0;    // of the drained ones, at most
  // The source that was described last for each probe. Kept, so that no other one gets its address.
  std::unordered_map<std::string, std::shared_ptr<const EventSource>> reported_;
  const EventSource* last_described_ = nullptr;
  protocol::HitText hits_;
  protocol::WallClock wall_;
};

}  // namespace tracectl
