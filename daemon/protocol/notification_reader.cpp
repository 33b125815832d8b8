// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/notification_reader.h"

#include "daemon/protocol/codec.h"
#include "daemon/protocol/convert.h"
#include "daemon/protocol/events.h"

namespace tracectl::protocol {

Result<std::optional<StreamItem>> NotificationReader::read(const Notification& notification) {
  if (notification.method == ProbeNotification::kMethod) {
    if (auto remembered = remember(notification); !remembered) return remembered.error();
    return std::optional<StreamItem>{};
  }
  auto item = parse_notification(notification);
  if (!item) return item.error();
  if (auto* event = std::get_if<Event>(&*item)) name_arguments(*event);
  return std::optional{std::move(*item)};
}

Status NotificationReader::remember(const Notification& notification) {
  auto wire = from_json<ProbeNotification>(notification.params);
  if (!wire) return wire.error().in("the peer's probe");
  described_[{wire->session, wire->probe}] = std::make_shared<const EventSource>(
      EventSource{wire->probe, wire->session, arguments_of(*wire), result_of(*wire)});
  return ok();
}

void NotificationReader::name_arguments(Event& event) const {
  if (!event.strings.empty()) return;  // values that were asked for, not the probe's arguments
  const auto known = described_.find({event.source->session, event.source->probe});
  if (known == described_.end()) return;
  const bool only_ends = event.kind != EventKind::hit && event.args.empty();
  if (only_ends || known->second->arguments.size() == event.args.size())
    event.source = known->second;
}

}  // namespace tracectl::protocol
