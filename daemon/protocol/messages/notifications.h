// SPDX-License-Identifier: BSD-2-Clause
//
// Notifications to subscribers. The rules for these structs: daemon/protocol/messages.h.
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
  std::optional<std::string> demangled =
      {};  // in what tracectl prints; the daemon does not send it
  // "hit"; "return" or, without a return, "unwound" for the end of a call; "latency" for a hit that ended
  // what a hit of another probe had started.
  std::string kind;
  std::vector<Scalar> args;
  // For graphs: the call that begins or ends, by its number among the thread's calls in the session (0: its
  // end will not be seen), and how many calls were open around it.
  std::optional<uint64_t> call = {}, depth = {};
  // Of a call that has ended; a string: a struct in registers; null: not known; absent if the function returns nothing.
  std::optional<Scalar> retval = {};
  // If `retval` is not a value of the function's result type: the register that it was read from (nothing is known of
  // the function), or, where it is null, why no value can be read.
  std::optional<std::string> retval_is = {};
  std::optional<uint64_t> duration = {};  // ns, of a call that has ended, or from the start
  // With `split`, if they are known: the ns of `duration` in which the thread waited for a CPU, and for anything else.
  std::optional<uint64_t> runnable = {}, blocked = {};
  // If the spec asks for it; the innermost frame first.
  std::optional<std::vector<FramePart>> stack = {};
  std::optional<std::string> stack_by = {};   // "frame_pointers" or "unwind_tables"
  std::optional<std::string> stack_end = {};  // why the stack ends there: StackEnd of the model
  std::optional<std::string> tag = {};        // of the thread, if a spec has set one
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
    f("demangled", s.demangled);
    f("kind", s.kind);
    f("args", s.args);
    f("call", s.call);
    f("depth", s.depth);
    f("retval", s.retval);
    f("retval_is", s.retval_is);
    f("duration", s.duration);
    f("runnable", s.runnable);
    f("blocked", s.blocked);
    f("stack", s.stack);
    f("stack_by", s.stack_by);
    f("stack_end", s.stack_end);
    f("tag", s.tag);
  }
};
// For subscriptions with `describe`: comes before the first event of a probe whose parameters have names, and
// again when they have changed.
struct ProbeNotification {
  static constexpr const char* kMethod = "probe";
  std::string session;
  std::string probe;
  std::vector<ArgumentPart> args;  // of the probe's events, in order
  std::optional<ArgumentPart> result =
      {};  // of the function; named as the register if nothing is known of it
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f("probe", s.probe);
    f("args", s.args);
    f("result", s.result);
  }
};
struct LostNotification {
  static constexpr const char* kMethod = "lost";
  uint64_t ts = 0;  // its place: if a ring was full, no loss was earlier
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
