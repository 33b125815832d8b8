// SPDX-License-Identifier: BSD-2-Clause
//
// What a subscriber is sent. The rules of these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/protocol/messages/parts.h"
#include "daemon/protocol/messages/stacks.h"
#include "daemon/protocol/messages/values.h"

namespace tracectl::protocol {

struct EventNotification {
  static constexpr const char* kMethod = "event";
  uint64_t ts = 0;   // ns since boot
  std::string wall;  // RFC 3339, UTC, with nanoseconds
  uint64_t epoch = 0;
  std::string session;
  uint64_t cpu = 0;
  int64_t pid = 0, tid = 0;
  std::string comm;
  std::string probe;
  // "hit"; of a call that has ended "return" or, if it did not return, "unwound"; of a hit that ended
  // what a hit of another probe had started "latency".
  std::string kind;
  std::vector<Scalar> args;
  // Of a graph: which call begins or ends by it, by its number among the thread's in the session (0: its
  // end is not seen), and how many calls were open around it.
  std::optional<uint64_t> call = {}, depth = {};
  std::optional<Scalar> retval = {};      // of a call that has ended; null where it is not known
  std::optional<uint64_t> duration = {};  // of a call that has ended, or from the start, in ns
  // If it was asked for; the innermost frame first.
  std::optional<std::vector<FramePart>> stack = {};
  std::optional<std::string> stack_by = {};   // "frame_pointers" or "unwind_tables"
  std::optional<std::string> stack_end = {};  // why there are no more: StackEnd of the model
  std::optional<std::string> tag = {};        // of the thread, as a spec has set it
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("ts", s.ts);
    f("wall", s.wall);
    f("epoch", s.epoch);
    f("session", s.session);
    f("cpu", s.cpu);
    f("pid", s.pid);
    f("tid", s.tid);
    f("comm", s.comm);
    f("probe", s.probe);
    f("kind", s.kind);
    f("args", s.args);
    f("call", s.call);
    f("depth", s.depth);
    f("retval", s.retval);
    f("duration", s.duration);
    f("stack", s.stack);
    f("stack_by", s.stack_by);
    f("stack_end", s.stack_end);
    f("tag", s.tag);
  }
};
// Comes before the first event of a probe whose parameters have names, and again when they have
// changed, to who has subscribed with `describe`.
struct ProbeNotification {
  static constexpr const char* kMethod = "probe";
  std::string session;
  std::string probe;
  std::vector<ArgumentPart> args;           // of its events, in order
  std::optional<ArgumentPart> result = {};  // of the function, if it is known
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f("probe", s.probe);
    f("args", s.args);
    f("result", s.result);
  }
};
struct LostNotification {
  static constexpr const char* kMethod = "lost";
  uint64_t ts = 0;  // of its place: where a ring was full, none of these was lost before
  uint64_t count = 0;
  // "ring_full", "slow_client", "held_full" or, in recordings, "slow_disk" or "unknown_end".
  std::string cause;
  std::optional<uint64_t> cpu;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("ts", s.ts);
    f("count", s.count);
    f("cause", s.cause);
    f("cpu", s.cpu);
    f("session", s.session);
  }
};

}  // namespace tracectl::protocol
