// SPDX-License-Identifier: BSD-2-Clause
//
// The last events of a session, in memory. What they were is written where somebody asks: sinks/dump.h.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "daemon/events/sink.h"
#include "daemon/recording/encoder.h"

namespace tracectl {

// Takes events on the reader's thread. They are cut into extents: the blocks of all CPUs from one
// moment to another, with all definitions that these refer to. The oldest extent is forgotten whole,
// and its definitions with it. So what is there is always all that came since one moment, and any
// extents in a row make a trace file.
class FlightRecorder final : public EventSink {
 public:
  struct Bound {
    uint64_t bytes = 0;
    std::optional<uint64_t> ns = {};  // no longer than that, where there is room for so much
  };
  struct Extent {
    std::vector<recording::Block> blocks;  // in the order in which they are to stand in a file
    uint64_t bytes = 0;                    // that it takes
    uint64_t first_ns = 0, last_ns = 0;    // of its items
    uint64_t events = 0;
    uint64_t lost = 0;  // told by the others
  };
  using Snapshot = std::vector<std::shared_ptr<const Extent>>;  // the oldest first
  struct State {
    uint64_t bytes = 0;
    uint64_t events = 0, lost = 0;
    uint64_t first_ns = 0, last_ns = 0;  // 0: nothing is held
    uint64_t overwritten = 0;            // events that were held
  };

  explicit FlightRecorder(Bound bound) : bound_(bound) {}

  void take(std::span<const StreamItem> items) override;
  bool is_awaited() const override { return false; }
  // All that is held now; any thread. Takes no copy, and does not stop what comes.
  Snapshot snapshot();
  State state() const;

 private:
  // So much at most is forgotten at once.
  static constexpr uint64_t kExtents = 8;

  // With the mutex held.
  void count(const StreamItem& item);
  void keep_ended();
  uint64_t open_bytes() const;
  bool is_extent_full() const;
  void end_extent();
  void forget_old(uint64_t now_ns);
  void forget_first();

  const Bound bound_;
  mutable std::mutex mutex_;
  recording::Encoder encoder_;
  Extent open_;
  std::deque<std::shared_ptr<const Extent>> ended_;
  uint64_t ended_bytes_ = 0;
  uint64_t overwritten_ = 0;
};

}  // namespace tracectl
