// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>

#include "daemon/model/event.h"

namespace tracectl {

// Where the events of a session go. Called on the reader's thread, in ts order, and must not
// block: what a sink has no room for it counts and reports as lost.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void take(std::span<const StreamItem> items) = 0;
};

}  // namespace tracectl
