// SPDX-License-Identifier: BSD-2-Clause
//
// Keeps the last events of a session in memory. stream/dump.h writes them to a file on request.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "daemon/recording/encoder.h"
#include "daemon/stream/sink.h"

namespace tracectl {

// Takes events on the reader's thread, and divides them into extents: the blocks of all CPUs from one moment
// to another, with all definitions that these refer to. The oldest extent is dropped as a whole, with its
// definitions. So the recorder always has all events since some moment, and any consecutive extents make a
// trace file. A loss that may have gone on after a dropped extent stays: it is in the stream where it may have
// begun, and what it took may be missing between later events.
class FlightRecorder final : public EventSink {
 public:
  struct Bound {
    uint64_t bytes = 0;
    std::optional<uint64_t> ns = {};  // no longer than that, even if there is room
  };
  struct Extent {
    std::vector<recording::Block> blocks;  // in the order of a file
    uint64_t bytes = 0;                    // of memory
    uint64_t first_ns = 0, last_ns = 0;    // of its items
    uint64_t events = 0;
    uint64_t lost = 0;                // that its items report
    std::vector<Lost> reaching = {};  // of these, those that may have gone on after its last item
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
  // All that is held now. Copies nothing, and does not stop incoming events. Any thread.
  Snapshot snapshot();
  State state() const;

 private:
  // The bound is divided into this many extents, of which one is dropped at a time.
  static constexpr uint64_t kExtents = 8;

  // Called with the mutex held.
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
  std::vector<Lost> carried_;  // of dropped extents, that may reach into what is held
  uint64_t ended_bytes_ = 0;
  uint64_t overwritten_ = 0;
};

}  // namespace tracectl
