// SPDX-License-Identifier: BSD-2-Clause
//
// The thread that reads the rings of all sessions. While events come it polls every millisecond,
// because a wake-up for each record would cost the traced program many times as much as the record.
// When none have come for a while, it asks the programs for one wake-up and sleeps.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/kernel/rings.h"
#include "daemon/stream/batch.h"
#include "daemon/stream/held_items.h"
#include "daemon/stream/session_stream.h"
#include "daemon/stream/sink.h"
#include "daemon/stream/symbolizer.h"

namespace tracectl {

// All members may be called by any thread except the reader's own.
class EventReader {
 public:
  static Result<std::unique_ptr<EventReader>> start(Rings& rings, Symbolizer& symbolizer);
  ~EventReader();

  // Stacks contain only what the owner may read; without an owner, everything.
  Status open(uint32_t session, SessionRings rings, const std::optional<Owner>& owner = {});
  // For rings that a former daemon has read. Their contents wait for a while for a subscriber that
  // returns; recorders, which are there at once, also get them then. If a ring would overflow
  // before, only the recorders get them, and the subscriber gets the number of lost events.
  Status restore(uint32_t session, SessionRings rings, const std::optional<Owner>& owner = {});
  // The last call: passes what was read to the sinks, and stops reading.
  void end();
  void close(uint32_t session);
  // Call it before a record can have the id.
  void add_source(uint32_t session, uint32_t id, std::shared_ptr<const EventSource> source);

  // The tag for this number in records. Call it before a record can have the number.
  void add_tag(uint32_t session, uint32_t number, const std::string& tag);

  void subscribe(uint32_t session, Subscriber subscriber);
  void unsubscribe(uint32_t session, const EventSink* sink);

  // Returns once every event of the session that fired before the call was passed to its sinks.
  // Returns the time of the call.
  Result<uint64_t> flush(uint32_t session);
  // The same without waiting: ask_flush() returns the time of the call, and is_flushed() whether it
  // is done. It fails if it is not done by kFlushLimitNs.
  uint64_t ask_flush(uint32_t session);
  Result<bool> is_flushed(uint32_t session, uint64_t asked_ns) const;
  static constexpr uint64_t kFlushLimitNs = 10'000'000'000;
  // An eventfd, readable when a requested flush is done, or late.
  int flushed_fd() const { return flushed_.get(); }

  ReaderStats stats() const;

 private:
  struct Stream {
    explicit Stream(SessionStream opened_rings) : rings(std::move(opened_rings)) {}
    SessionStream rings;
    HeldItems held;  // released by the rings
    std::vector<std::shared_ptr<EventSink>> sinks;
    Batch::Sinks hit_sinks;      // those of `sinks` that take hits
    uint64_t read_until_ns = 0;  // the merger has released everything before
    uint64_t released_ns = 0;    // the sinks have everything before, with its losses
    uint64_t sink_comes_by_ns =
        0;                    // since boot; the stream is not read before, unless a sink comes
    uint64_t wanted_ns = 0;   // a caller waits for everything before, so it is read in any case
    uint64_t unreported = 0;  // events that the subscribers of a former daemon missed
    // Events, also lost ones, that only recorders got while a subscriber was awaited.
    uint64_t missed = 0;
    uint64_t opened = 0;  // unique for each stream
    std::optional<Owner> owner;
  };

  struct AskedFlush {
    uint32_t session;
    uint64_t asked_ns;
  };

  EventReader(Rings& rings, Symbolizer& symbolizer, Fd wake, Fd flushed);
  void run();
  bool pass();
  bool pass(uint32_t session, std::unique_lock<std::mutex>& lock);
  bool make_stacks(uint32_t session, uint64_t opened, std::unique_lock<std::mutex>& lock);
  void order_key_stacks();
  bool awaits_stacks() const;
  bool has_passed(uint32_t session, uint64_t asked_ns) const;
  void report_flushed();
  void sleep_until_event();
  bool wait(int timeout_ms);
  void wake();
  void release_all();
  bool waits_for_sink(uint32_t session, Stream& stream);
  void end_waiting(uint32_t session, Stream& stream, bool came);
  void report_unreported(uint32_t session, Stream& stream);
  void give(uint32_t session, Stream& stream);
  int longest_sleep_ms() const;
  Status open(uint32_t session, SessionRings rings, const std::optional<Owner>& owner,
              uint64_t sink_comes_by_ns);

  Rings& rings_;
  Symbolizer& symbolizer_;
  Fd wake_;                   // an eventfd: wakes the reader for a request
  mutable std::mutex mutex_;  // of everything below
  std::condition_variable passed_;
  std::map<uint32_t, Stream> streams_;
  uint64_t streams_opened_ = 0;
  ReadItems items_;         // of the pass
  StackOrders key_orders_;  // for stacks that rows refer to, so that reading rows need not wait
  bool stop_ = false;
  std::vector<AskedFlush> flushes_;  // not reported yet
  Fd flushed_;
  std::thread thread_;
};

}  // namespace tracectl
