// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/notification_reader.h"

#include "daemon/protocol/codec.h"
#include "daemon/protocol/convert.h"
#include "daemon/protocol/events.h"

namespace tracectl::protocol {

namespace {

// Whether the event has the probe's arguments; otherwise it has the values of the setting's spec.
bool are_of(const Arguments& described, const Event& event) {
  const Arguments& types = event.source->arguments;
  if (described.size() != event.args.size()) return false;
  for (size_t i = 0; i < types.size(); ++i)
    if (types[i].is_string && !described[i].is_string) return false;
  return true;
}

}  // namespace

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
  EventSource source{wire->probe, wire->session, arguments_of(*wire), result_of(*wire)};
  Described& described = described_[{wire->session, wire->probe}];
  described.numbers = std::make_shared<const EventSource>(source);
  for (Argument& argument : source.arguments)
    argument.is_string = argument.kind == Argument::Kind::text;
  described.texts = std::make_shared<const EventSource>(std::move(source));
  return ok();
}

void NotificationReader::name_arguments(Event& event) const {
  const auto known = described_.find({event.source->session, event.source->probe});
  if (known == described_.end()) return;
  const bool has_texts = std::ranges::any_of(event.source->arguments, &Argument::is_string);
  const auto& source = has_texts ? known->second.texts : known->second.numbers;
  const bool only_ends = event.kind != EventKind::hit && event.args.empty();
  if (only_ends || are_of(source->arguments, event)) event.source = source;
}

}  // namespace tracectl::protocol
