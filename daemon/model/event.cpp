// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/event.h"

namespace tracectl {

const char* name_of(EventKind kind) {
  switch (kind) {
    case EventKind::hit: return "hit";
    case EventKind::returned: return "return";
    case EventKind::unwound: return "unwound";
    case EventKind::latency: return "latency";
  }
  return "";
}

std::optional<EventKind> event_kind_named(std::string_view name) {
  for (const EventKind kind :
       {EventKind::hit, EventKind::returned, EventKind::unwound, EventKind::latency})
    if (name == name_of(kind)) return kind;
  return std::nullopt;
}

std::string_view what_retval_is(const Event& event) {
  if (event.kind != EventKind::returned) return {};
  const auto& result = event.source->result;
  if (result && result->place == Argument::Place::unreadable) return result->text;
  if (!event.retval) return {};
  if (!result) return "register";
  return is_bare_register(*result) ? std::string_view(result->name) : std::string_view();
}

const Argument& type_of_result(const EventSource& source) {
  static const Argument kUnknown{.is_signed = true};
  return source.result ? *source.result : kUnknown;
}

bool returns_nothing(const EventSource& source) {
  return source.result && source.result->place == Argument::Place::nothing;
}

const char* name_of(LossCause cause) {
  switch (cause) {
    case LossCause::ring_full: return "ring_full";
    case LossCause::slow_client: return "slow_client";
    case LossCause::slow_disk: return "slow_disk";
    case LossCause::held_full: return "held_full";
    case LossCause::unknown_end: return "unknown_end";
  }
  return "";
}

std::optional<LossCause> loss_cause_named(std::string_view name) {
  for (const LossCause cause : {LossCause::ring_full, LossCause::slow_client, LossCause::slow_disk,
                                LossCause::held_full, LossCause::unknown_end})
    if (name == name_of(cause)) return cause;
  return std::nullopt;
}

}  // namespace tracectl
