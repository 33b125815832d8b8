// SPDX-License-Identifier: BSD-2-Clause
//
// The JSON that `tracectl top --json` prints for each interval; no method has these. The rules of such structs:
// daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracectl::protocol {

struct TopRowPart {
  std::string probe;
  std::optional<std::string> demangled = {};
  std::string session;
  std::optional<int64_t> pid = {};  // none: in all processes of the session's targets
  std::optional<std::string> comm = {};
  std::string cost;            // "fast", "normal", "emulated", "slow"
  double hits_per_second = 0;  // in the interval
  double lost_per_second = 0;
  double percent = 0;  // of one CPU: the estimated cost of the hits
  uint64_t hits = 0;   // since it was armed
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("demangled", s.demangled);
    f("session", s.session);
    f("pid", s.pid);
    f("comm", s.comm);
    f("class", s.cost);
    f("hits_per_second", s.hits_per_second);
    f("lost_per_second", s.lost_per_second);
    f("percent", s.percent);
    f("hits", s.hits);
  }
};
// Sorted by cost, the highest first.
struct TopTablePart {
  uint64_t ts = 0;     // ns since boot: the end of the interval
  double seconds = 0;  // its length
  std::vector<TopRowPart> rows;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("ts", s.ts);
    f("seconds", s.seconds);
    f("rows", s.rows);
  }
};

}  // namespace tracectl::protocol
