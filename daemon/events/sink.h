// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>

#include "daemon/model/event.h"
#include "daemon/model/plain_hit.h"

namespace tracectl {

// Where the events of a session go. Called on the reader's thread, in ts order, and must not
// block: what a sink has no room for it counts and reports as lost.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void take(std::span<const StreamItem> items) = 0;
  // Whether who reads at its other end subscribes again when the daemon was started anew. Does not change.
  virtual bool is_awaited() const { return true; }
};

// A sink to which the events of each CPU are a stream by themselves: they come in ts order of their CPU
// only, and most of them without having been made an Event, which takes a fraction of the time.
class PerCpuSink : public EventSink {
 public:
  using EventSink::take;
  virtual void take(std::span<const PlainHit> hits) = 0;
  // Whether it wants all events in one order after all; does not change.
  virtual bool needs_one_order() const { return false; }
};

}  // namespace tracectl
