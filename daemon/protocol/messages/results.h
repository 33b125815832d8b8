// SPDX-License-Identifier: BSD-2-Clause
//
// session.read, flush, subscribe, unsubscribe. The rules of these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/protocol/messages/parts.h"
#include "daemon/protocol/messages/stacks.h"
#include "daemon/protocol/messages/values.h"

namespace tracectl::protocol {

// A bucket of a histogram: how many values there were from min to max, both included.
struct BucketPart {
  std::optional<Integer> min = {};  // none: from the least there is
  std::optional<Integer> max = {};  // none: to the most there is
  uint64_t count = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("min", s.min);
    f("max", s.max);
    f("count", s.count);
  }
};
// One row of one aggregate. What it was not asked for is not there, and neither is what a row of no
// values does not have: avg, min and max.
struct RowPart {
  std::string probe;
  std::optional<std::string> of = {};  // whose values: an expression; none: hits are counted
  std::optional<Named<Key>> by = {};   // by the texts of the keys
  // Of the keys a stack, the innermost frame first, as in events; and where it was called from.
  std::optional<std::vector<FramePart>> stack = {};
  std::optional<std::string> stack_by = {};
  std::optional<std::string> stack_end = {};
  std::optional<FramePart> caller = {};
  uint64_t count = 0;               // hits, or values
  std::optional<Integer> sum = {};  // modulo 2^64
  std::optional<double> avg = {};
  std::optional<Integer> min = {}, max = {};
  std::optional<std::vector<BucketPart>> hist = {};  // those that are not empty, in order
  std::optional<uint64_t> step = {};                 // of a linear histogram
  std::optional<uint64_t> unread = {};  // hits whose value could not be read; not in `count`
  // Of `time`: what the calls took without those within them that the session follows as well, ns.
  std::optional<uint64_t> self = {};
  // Calls that were left without a return; not in `count`, unless it is kept by path.
  std::optional<uint64_t> unwound = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("of", s.of);
    f("by", s.by);
    f("stack", s.stack);
    f("stack_by", s.stack_by);
    f("stack_end", s.stack_end);
    f("caller", s.caller);
    f("count", s.count);
    f("sum", s.sum);
    f("avg", s.avg);
    f("min", s.min);
    f("max", s.max);
    f("hist", s.hist);
    f("step", s.step);
    f("unread", s.unread);
    f("self", s.self);
    f("unwound", s.unwound);
  }
};
// One of the times between two probes that were longest.
struct SlowPart {
  uint64_t duration = 0;  // ns
  uint64_t ended = 0;     // ns since boot
  Named<Key> by = {};
  int64_t from_pid = 0, from_tid = 0;  // of the hit that it began with
  int64_t to_pid = 0, to_tid = 0;      // of the one that ended it
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("duration", s.duration);
    f("ended", s.ended);
    f("by", s.by);
    f("from_pid", s.from_pid);
    f("from_tid", s.from_tid);
    f("to_pid", s.to_pid);
    f("to_tid", s.to_tid);
  }
};
// What was measured from one probe to another; the times themselves are rows of `of` "duration".
// started + those open before = matched + overwritten + open.
struct LatencyPart {
  std::string from, to;  // the patterns
  std::string by;        // the keys
  uint64_t started = 0;
  uint64_t matched = 0;           // starts and ends that belong together
  uint64_t open = 0;              // starts without an end so far
  uint64_t overwritten = 0;       // starts whose key started once more before an end
  uint64_t unmatched = 0;         // ends without a start
  uint64_t unread = 0;            // hits whose key could not be read
  uint64_t dropped = 0;           // hits for which there was no room
  std::vector<SlowPart> slowest;  // the slowest first
  uint64_t unlisted = 0;          // matched, but not compared with the slowest: their list was busy
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("from", s.from);
    f("to", s.to);
    f("by", s.by);
    f("started", s.started);
    f("matched", s.matched);
    f("open", s.open);
    f("overwritten", s.overwritten);
    f("unmatched", s.unmatched);
    f("unread", s.unread);
    f("dropped", s.dropped);
    f("slowest", s.slowest);
    f("unlisted", s.unlisted);
  }
};
// A way by which calls of a graph were reached.
struct PathPart {
  uint64_t path = 0;    // its number in rows by `path`; constant during the session
  uint64_t around = 0;  // the number of the path to the call around it; 0: it is a root
  std::string probe;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("path", s.path);
    f("around", s.around);
    f("probe", s.probe);
  }
};
struct ReadReply {
  std::vector<RowPart> rows;  // dearest first; a probe that was never hit has a row with 0
  uint64_t epoch = 0;
  uint64_t total_hits = 0;      // by the targets = filtered + taken
  uint64_t total_filtered = 0;  // not taken: by conditions, samples and limits
  uint64_t total_silenced = 0;  // of those taken, events: of threads that a spec has silenced
  uint64_t dropped_ring = 0;    // of those taken, events: no room in the ring
  uint64_t dropped_keys = 0;    // values by a key: the table of keys was full
  uint64_t cut = 0;             // calls whose end is not seen: too many were open in their thread
  // Of settings that measure from one probe to another.
  std::optional<std::vector<LatencyPart>> latencies = {};
  std::optional<std::vector<PathPart>> paths = {};  // where there are rows by path
  // Probes whose rows have stopped, as they cost more than the session's budget.
  std::optional<std::vector<LeftOutPart>> left_out = {};
  // With `clear`, which is a switch; a plain read is none.
  std::optional<PhasesPart> phases_us;
  std::optional<std::vector<SkewPart>> skew_ns;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("rows", s.rows);
    f("epoch", s.epoch);
    f("total_hits", s.total_hits);
    f("total_filtered", s.total_filtered);
    f("total_silenced", s.total_silenced);
    f("dropped_ring", s.dropped_ring);
    f("dropped_keys", s.dropped_keys);
    f("cut", s.cut);
    f("latencies", s.latencies);
    f("paths", s.paths);
    f("left_out", s.left_out);
    f("phases_us", s.phases_us);
    f("skew_ns", s.skew_ns);
  }
};
struct SessionRead {
  static constexpr const char* kMethod = "session.read";
  using Reply = ReadReply;
  std::string session;
  bool clear = false;  // read and zero in one cut
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f.optional("clear", s.clear);
  }
};

struct FlushReply {
  uint64_t ts = 0;  // every event of the session fired before this time (ns since boot) was sent
  template <class Self, class F> static void fields(Self& s, F&& f) { f("ts", s.ts); }
};
struct SessionFlush {
  static constexpr const char* kMethod = "session.flush";
  using Reply = FlushReply;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};
// After this the server sends notifications `event` and `lost` for the session on this connection.
struct SessionSubscribe {
  static constexpr const char* kMethod = "session.subscribe";
  using Reply = Empty;
  std::string session;
  bool describe = false;  // and `probe`, what the parameters of functions are called
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f.optional("describe", s.describe);
  }
};
struct SessionUnsubscribe {
  static constexpr const char* kMethod = "session.unsubscribe";
  using Reply = Empty;
  std::string session;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("session", s.session); }
};

}  // namespace tracectl::protocol
