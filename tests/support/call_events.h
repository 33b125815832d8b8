// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "daemon/model/event.h"

namespace tracectl {

inline Event event_of(EventKind kind, const std::string& probe, uint64_t ts_ns) {
  Event event;
  event.kind = kind;
  event.ts_ns = ts_ns;
  event.cpu = 1;
  event.pid = 4711;
  event.tid = 4711;
  event.comm = "prog";
  event.source = std::make_shared<EventSource>(EventSource{probe, "s", {}});
  return event;
}

inline Event begin_of(const std::string& function, CallMark call, uint64_t ts_ns) {
  Event event = event_of(EventKind::hit, "uprobe:/usr/bin/prog:" + function, ts_ns);
  event.call = call;
  return event;
}

inline Event end_of(const std::string& function, CallMark call, uint64_t ts_ns,
                    uint64_t duration_ns) {
  Event event = begin_of(function, call, ts_ns);
  event.kind = EventKind::returned;
  event.duration_ns = duration_ns;
  return event;
}

inline Event unwound_of(const std::string& function, CallMark call, uint64_t ts_ns,
                        uint64_t duration_ns) {
  Event event = end_of(function, call, ts_ns, duration_ns);
  event.kind = EventKind::unwound;
  return event;
}

inline Event note_of(const std::string& probe, uint64_t ts_ns) {
  return event_of(EventKind::hit, "usdt:/usr/bin/prog:" + probe, ts_ns);
}

inline Event in_thread(pid_t tid, Event event) {
  event.tid = tid;
  return event;
}

}  // namespace tracectl
