// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/model/argument.h"
#include "daemon/model/stack.h"

namespace tracectl {

// What is the same for every event of one probe in one session; shared by its events.
struct EventSource {
  std::string probe;  // canonical name: usdt:/usr/bin/python3.11:python:gc__start
  std::string session;
  Arguments arguments;                  // of the site, or the values asked for instead, in order
  std::optional<Argument> result = {};  // the type of the function's, if it is known
  unsigned most_frames = 0;             // of its stack; 0: it has none
};

// One value of an event; nullopt where the program's memory could not be read.
using Value = std::optional<uint64_t>;  // bits; the source's Argument says how to read them

// What has happened: the probe was hit, a call that began with it has ended, or it was hit and that
// ended what a hit of another probe had started.
enum class EventKind : uint8_t { hit, returned, unwound, latency };

const char* name_of(EventKind kind);
std::optional<EventKind> event_kind_named(std::string_view name);

// Which call an event of a graph is about: its beginning, or how it ended.
struct CallMark {
  uint32_t number = 0;  // among those of the thread in its session, from 1; 0: its end is not seen
  uint32_t depth = 0;   // how many calls of the session were open around it

  bool operator==(const CallMark&) const = default;
};

struct Event {
  EventKind kind = EventKind::hit;
  uint64_t ts_ns = 0;  // since boot (CLOCK_BOOTTIME)
  uint64_t epoch = 0;
  unsigned cpu = 0;
  pid_t pid = 0;
  pid_t tid = 0;
  std::string comm;
  std::shared_ptr<const EventSource> source;
  std::vector<Value> args;
  std::vector<std::string> strings;                // which arguments that are strings count
  std::optional<CallMark> call = {};               // of a graph's calls
  Value retval = {};                               // of a return by an instruction that has it
  std::optional<uint64_t> duration_ns = {};        // of the call, or since that start
  std::shared_ptr<const RawStack> raw_stack = {};  // until `stack` is made of it
  std::shared_ptr<const Stack> stack = {};         // if it was asked for
  std::string tag = {};                            // of the thread; empty: none; "?": unknown
};

enum class LossCause {
  ring_full,    // this CPU's ring of the session had no room
  slow_client,  // the subscriber did not read fast enough
  slow_disk,    // the file of a recording was not written fast enough, or could not be
  held_full,    // a call had more to keep than could wait for its end
  unknown_end,  // how many is not known: the file of a recording says nothing of its end
};

const char* name_of(LossCause cause);
std::optional<LossCause> loss_cause_named(std::string_view name);

// Stands in the stream where events were lost.
struct Lost {
  uint64_t ts_ns = 0;  // of its place: where a ring was full, none of these was lost before
  uint64_t count = 0;
  LossCause cause = LossCause::ring_full;
  std::optional<unsigned> cpu;
};

using StreamItem = std::variant<Event, Lost>;

}  // namespace tracectl
