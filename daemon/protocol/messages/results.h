// SPDX-License-Identifier: BSD-2-Clause
//
// session.read, flush, subscribe, unsubscribe. The rules for these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/protocol/messages/parts.h"
#include "daemon/protocol/messages/stacks.h"
#include "daemon/protocol/messages/values.h"

namespace tracectl::protocol {

// A bucket of a histogram: the number of values from min to max, both included.
struct BucketPart {
  std::optional<Integer> min = {};  // none: no lower bound
  std::optional<Integer> max = {};  // none: no upper bound
  uint64_t count = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("min", s.min);
    f("max", s.max);
    f("count", s.count);
  }
};
// One row of one aggregate. Members that were not requested are absent; so are avg, min and max in a row
// without values.
struct RowPart {
  std::string probe;
  std::optional<std::string> demangled = {};  // added by tracectl
  std::optional<std::string> of = {};         // expression of the values; none: hits are counted
  std::optional<Named<Key>> by = {};          // by the texts of the keys
  // Keys that are stacks, the innermost frame first, as in events; and the caller's frame.
  std::optional<std::vector<FramePart>> stack = {};
  std::optional<std::string> stack_by = {};
  std::optional<std::string> stack_end = {};
  std::optional<FramePart> caller = {};
  uint64_t count = 0;               // hits, or values
  std::optional<Integer> sum = {};  // modulo 2^64
  std::optional<double> avg = {};
  std::optional<Integer> min = {}, max = {};
  std::optional<std::vector<BucketPart>> hist = {};  // nonempty ones, in order
  std::optional<uint64_t> step = {};                 // of a linear histogram
  std::optional<uint64_t> unread = {};  // hits whose value could not be read; not in `count`
  // For `time`: the time of the calls without that of calls within them that the session also follows, ns.
  std::optional<uint64_t> self = {};
  // For `time`: the ns that the session's probes took within the calls. None of the other members includes it.
  std::optional<uint64_t> probes = {};
  // For `time` with `split`: the ns in which the threads were running, waited for a CPU, and waited for anything else. They
  // are of the calls of which these are known; `unsplit`: how many others there are, if any.
  std::optional<uint64_t> running = {}, runnable = {}, blocked = {}, unsplit = {};
  // Calls that ended without a return; not in `count`, unless the row is by path.
  std::optional<uint64_t> unwound = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("demangled", s.demangled);
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
    f("probes", s.probes);
    f("running", s.running);
    f("runnable", s.runnable);
    f("blocked", s.blocked);
    f("unsplit", s.unsplit);
    f("unwound", s.unwound);
  }
};
// One of the longest times between two probes.
struct SlowPart {
  uint64_t duration = 0;  // ns
  uint64_t ended = 0;     // ns since boot
  Named<Key> by = {};
  int64_t from_pid = 0, from_tid = 0;  // of the hit that started it
  int64_t to_pid = 0, to_tid = 0;      // of the hit that ended it
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
// Results of measuring from one probe to another; the times themselves are rows with `of` "duration". started
// + those open before = matched + overwritten + open.
struct LatencyPart {
  std::string from, to;  // the patterns
  std::string by;        // the keys
  uint64_t started = 0;
  uint64_t matched = 0;           // pairs of a start and an end
  uint64_t open = 0;              // starts without an end so far
  uint64_t overwritten = 0;       // starts whose key started again before an end
  uint64_t unmatched = 0;         // ends without a start
  uint64_t unread = 0;            // hits whose key could not be read
  uint64_t dropped = 0;           // hits for which there was no room
  std::vector<SlowPart> slowest;  // the slowest first
  uint64_t unlisted = 0;          // matched, but not compared with the slowest, whose list was busy
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
// A chain of callers by which calls of a graph were reached.
struct PathPart {
  uint64_t path = 0;    // its number in rows by `path`; constant during the session
  uint64_t around = 0;  // the path of the call around it; 0: it is a root
  std::string probe;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("path", s.path);
    f("around", s.around);
    f("probe", s.probe);
  }
};
struct ReadReply {
  std::vector<RowPart> rows;  // highest cost first; a probe without hits has a row with 0
  uint64_t epoch = 0;
  uint64_t total_hits = 0;      // in the targets = filtered + taken
  uint64_t total_filtered = 0;  // not taken, because of conditions, samples and limits
  uint64_t total_silenced = 0;  // of those taken, events of threads that a spec has silenced
  uint64_t dropped_ring = 0;    // of those taken, events: no room in the ring
  uint64_t dropped_keys = 0;    // values by a key: the table of keys was full
  uint64_t cut = 0;             // calls whose end is not seen: too many were open in their thread
  // For settings that measure from one probe to another.
  std::optional<std::vector<LatencyPart>> latencies = {};
  std::optional<std::vector<PathPart>> paths = {};  // if there are rows by path
  // Probes whose rows have ended, because they cost more than the session's budget.
  std::optional<std::vector<LeftOutPart>> left_out = {};
  // With `clear`, which is a switch, unlike a plain read.
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
  bool clear = false;  // read and zero in one atomic step
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("session", s.session);
    f.optional("clear", s.clear);
  }
};

struct FlushReply {
  uint64_t ts = 0;  // every event of the session before this time (ns since boot) was sent
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
  bool describe = false;  // also `probe`: the names and types of parameters
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
