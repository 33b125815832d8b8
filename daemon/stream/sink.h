// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <utility>

#include "daemon/model/event.h"
#include "daemon/model/plain_hit.h"

namespace tracectl {

// A destination of a session's events. Called by the reader's thread, in ts order, and must not
// block: a sink counts items for which it has no room, and reports them as lost.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void take(std::span<const StreamItem> items) = 0;
  // Whether its client subscribes again after the daemon was restarted. Does not change.
  virtual bool is_awaited() const { return true; }
};

// A sink that takes hits without an Event: making one takes several times as long as passing the hit.
class HitSink : public EventSink {
 public:
  using EventSink::take;
  virtual void take(std::span<const PlainHit> hits) = 0;
  // Whether it needs the events of all CPUs in one order. Otherwise they are in ts order per CPU only, which takes less
  // time. Does not change.
  virtual bool needs_one_order() const = 0;
};

// A sink as a reader takes it. Its own type says whether it takes hits.
struct Subscriber {
  template <std::derived_from<EventSink> Sink> Subscriber(std::shared_ptr<Sink> own) : sink(own) {
    if constexpr (std::derived_from<Sink, HitSink>) hits = std::move(own);
  }

  std::shared_ptr<EventSink> sink;
  std::shared_ptr<HitSink> hits;  // the same, or null
};

}  // namespace tracectl
