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

// The common part of all events of one probe in one session, which share it.
struct EventSource {
  std::string probe;  // canonical name: usdt:/usr/bin/python3.11:python:gc__start
  std::string session;
  Arguments arguments;  // of the site, or the requested values instead, in order
  std::optional<Argument> result =
      {};                    // of the function; none in old recordings and of other probes
  unsigned most_frames = 0;  // of its stack; 0: no stack
};

// One value of an event; nullopt if the program's memory could not be read.
using Value = std::optional<uint64_t>;  // bits; the source's Argument says how to read them

// An event reports one of these: the probe was hit, the call that began with a hit has ended, or
// the probe was hit and that ended a latency that a hit of another probe started.
enum class EventKind : uint8_t { hit, returned, unwound, latency };

const char* name_of(EventKind kind);
std::optional<EventKind> event_kind_named(std::string_view name);

// The call that an event of a graph is about: its begin, or its end.
struct CallMark {
  uint32_t number = 0;  // among the thread's in its session, from 1; 0: its end is not seen
  uint32_t depth = 0;   // how many of the session's calls were open around it

  bool operator==(const CallMark&) const = default;
};

// The parts of a duration in which the thread was not running. The rest it was.
struct OffCpu {
  uint64_t runnable_ns = 0;  // it waited for a CPU
  uint64_t blocked_ns = 0;   // it waited for something else

  bool operator==(const OffCpu&) const = default;
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
  std::vector<std::string> strings;          // that arguments with is_string refer to by index
  std::optional<CallMark> call = {};         // in a graph
  Value retval = {};                         // of a return, if the exit instruction has it
  std::optional<uint64_t> duration_ns = {};  // of the call, or since the latency's start
  std::optional<OffCpu> off_cpu = {};        // of duration_ns, if the spec asks and it is known
  std::shared_ptr<const RawStack> raw_stack = {};  // until `stack` is made from it
  std::shared_ptr<const Stack> stack = {};         // if requested
  std::string tag = {};                            // of the thread; empty: none; "?": unknown
};

// What the event's `retval` is, if it is not a value of the function's result type: the register that it was read from,
// or why there is none. Empty otherwise.
std::string_view what_retval_is(const Event& event);

// The type of the function's result; the whole register, a signed number, if nothing is known of it.
const Argument& type_of_result(const EventSource& source);

// Whether the function has no result, known or unknown.
bool returns_nothing(const EventSource& source);

enum class LossCause {
  ring_full,    // this CPU's ring of the session was full
  slow_client,  // the subscriber read too slowly
  slow_disk,    // a recording's file was written too slowly, or not at all
  held_full,    // a call had more to keep until its end than fits
  unknown_end,  // unknown how many: the file of a recording has no end mark
};

const char* name_of(LossCause cause);
std::optional<LossCause> loss_cause_named(std::string_view name);

// Takes the place of lost events in the stream.
struct Lost {
  uint64_t ts_ns = 0;  // of this place: if a ring was full, no event before it was lost
  uint64_t count = 0;
  LossCause cause = LossCause::ring_full;
  std::optional<unsigned> cpu;
  // If a ring was full, no event after it was lost. 0: no later than the place. Neither sent nor recorded.
  uint64_t until_ns = 0;
};

using StreamItem = std::variant<Event, Lost>;

}  // namespace tracectl
