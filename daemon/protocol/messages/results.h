// SPDX-License-Identifier: BSD-2-Clause
//
// session.read, flush, subscribe, unsubscribe. The rules of these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/protocol/messages/parts.h"

namespace tracectl::protocol {

struct ByPart {
  std::optional<int64_t> pid, tid;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("pid", s.pid);
    f("tid", s.tid);
  }
};
struct RowPart {
  std::string probe;
  std::optional<ByPart> by;
  uint64_t count = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("by", s.by);
    f("count", s.count);
  }
};
struct ReadReply {
  std::vector<RowPart> rows;  // dearest first; a probe that was never hit has a row with 0
  uint64_t epoch = 0;
  uint64_t total_hits = 0;    // hits by the targets = recorded + the drops below
  uint64_t dropped_ring = 0;  // events: no room in the ring
  uint64_t dropped_keys = 0;  // counts by a key: the table of keys was full
  // With `clear`, which is a switch; a plain read is none.
  std::optional<PhasesPart> phases_us;
  std::optional<std::vector<SkewPart>> skew_ns;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("rows", s.rows);
    f("epoch", s.epoch);
    f("total_hits", s.total_hits);
    f("dropped_ring", s.dropped_ring);
    f("dropped_keys", s.dropped_keys);
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
