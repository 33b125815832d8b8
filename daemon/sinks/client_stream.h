// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <string>

#include "daemon/protocol/events.h"
#include "daemon/sinks/bounded_sink.h"

namespace tracectl {

// A session's events on their way to one client, as notification lines.
class ClientStream final : public BoundedSink {
 public:
  // `wake` is called on the reader's thread when lines have come.
  ClientStream(std::string session, size_t limit_bytes, std::function<void()> wake)
      : session_(std::move(session)), limit_bytes_(limit_bytes), wake_(std::move(wake)) {}

  // Appends the lines that have come; any thread.
  void drain(std::string& to);
  uint64_t lost() const { return all_lost_; }

 private:
  bool full() const override { return lines_.size() >= limit_bytes_; }
  void append(const StreamItem& item) override;
  void arrived() override { wake_(); }

  const std::string session_;
  const size_t limit_bytes_;
  const std::function<void()> wake_;
  std::string lines_;
  protocol::WallClock wall_;
};

}  // namespace tracectl
