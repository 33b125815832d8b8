// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sinks/client_stream.h"

#include <algorithm>

namespace tracectl {

void ClientStream::append(const StreamItem& item) {
  const auto* event = std::get_if<Event>(&item);
  if (!event) return protocol::append_lost_line(lines_, std::get<Lost>(item), session_);
  if (describe_) describe(event->source);
  protocol::append_event_line(lines_, *event, wall_);
}

void ClientStream::describe(const std::shared_ptr<const EventSource>& source) {
  const auto has_name = [](const Argument& argument) { return !argument.name.empty(); };
  auto& told = told_[source->probe];
  if (told == source) return;
  const bool had_names =
      told && std::any_of(told->arguments.begin(), told->arguments.end(), has_name);
  told = source;
  if (had_names || std::any_of(source->arguments.begin(), source->arguments.end(), has_name))
    protocol::append_probe_line(lines_, *source);
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
