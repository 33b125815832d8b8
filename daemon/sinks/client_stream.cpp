// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sinks/client_stream.h"

namespace tracectl {

void ClientStream::append(const StreamItem& item) {
  if (const auto* event = std::get_if<Event>(&item))
    protocol::append_event_line(lines_, *event, wall_);
  else
    protocol::append_lost_line(lines_, std::get<Lost>(item), session_);
}

void ClientStream::drain(std::string& to) {
  const std::lock_guard lock(mutex_);
  to += lines_;
  lines_.clear();
  // A loss at the end is told now, not with the next event.
  report_loss();
  to += lines_;
  lines_.clear();
  wall_.sample();
}

}  // namespace tracectl
