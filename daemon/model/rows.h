// SPDX-License-Identifier: BSD-2-Clause
//
// The results of aggregates: rows, each of a probe, an aggregate, and its keys.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "daemon/model/stack.h"

namespace tracectl {

// The value of a key in a row: monostate if it could not be read. StackAddresses become a Stack
// when rows are read for a client.
using KeyValue =
    std::variant<std::monostate, int64_t, uint64_t, std::string, StackAddresses, Stack>;

struct KeyPart {
  std::string name;  // its expression: tid, str(arg0)
  KeyValue value;

  auto operator<=>(const KeyPart&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("value", s.value);
  }
};

struct RowKey {
  std::string probe;
  std::string aggregate = {};  // the aggregate, such as count, arg0, hist(arg0)
  std::vector<KeyPart> by = {};

  auto operator<=>(const RowKey&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("aggregate", s.aggregate);
    f("by", s.by);
  }
};

struct RowKeyHash {
  size_t operator()(const RowKey& key) const;
};

// How an aggregate is shown.
struct RowShape {
  enum class Kind : uint8_t { count, sums, hist, lhist, time };

  Kind kind = Kind::count;
  std::string of = {};       // the expression of its value; empty for a count
  bool is_unsigned = false;  // the type of that value
  bool splits = false;       // for a time: its parts are shown
  bool of_calls = true;      // for a time: of calls; else between two probes, without `self`
  bool sum = false, avg = false, min = false, max = false;  // which of the sums are wanted
  int64_t low = 0, high = 0, step = 0;                      // for a linear histogram

  bool operator==(const RowShape&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("kind", s.kind);
    f("of", s.of);
    f("is_unsigned", s.is_unsigned);
    f("splits", s.splits);
    f("of_calls", s.of_calls);
    f("sum", s.sum);
    f("avg", s.avg);
    f("min", s.min);
    f("max", s.max);
    f("low", s.low);
    f("high", s.high);
    f("step", s.step);
  }
};
constexpr RowShape::Kind last_of(RowShape::Kind) { return RowShape::Kind::time; }

// A bucket of a histogram holds values from `low` to `high`, both included. Their type is that of
// the shape's is_unsigned.
struct Bucket {
  uint64_t low = 0, high = 0;
  bool from_least = false, to_most = false;  // it has no lower, or no upper, bound
};
Bucket bucket_of(const RowShape& shape, unsigned number);
// The number of the bucket that a value is in.
unsigned bucket_number(const RowShape& shape, uint64_t value);

struct Row {
  RowShape shape = {};
  uint64_t count = 0;    // hits, or values
  uint64_t unread = 0;   // hits whose value could not be read; not in `count`
  uint64_t unwound = 0;  // calls that ended without a return; not in `count`
  uint64_t self = 0;     // the part of the time outside other calls that the session follows
  uint64_t probes =
      0;               // time of the session's probes within the calls, which is in no other member
  uint64_t split = 0;  // calls whose parts are known; their sums:
  uint64_t running = 0, runnable = 0, blocked = 0;
  uint64_t sum = 0;  // modulo 2^64; sum, min and max are bits of the type is_unsigned says
  uint64_t min = 0, max = 0;
  std::map<unsigned, uint64_t> buckets = {};  // by number

  // Adds another row of the same aggregate.
  void add(const Row& other);
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("shape", s.shape);
    f("count", s.count);
    f("unread", s.unread);
    f("unwound", s.unwound);
    f("self", s.self);
    f("probes", s.probes);
    f("split", s.split);
    f("running", s.running);
    f("runnable", s.runnable);
    f("blocked", s.blocked);
    f("sum", s.sum);
    f("min", s.min);
    f("max", s.max);
    f("buckets", s.buckets);
  }
};

using Rows = std::unordered_map<RowKey, Row, RowKeyHash>;

// The calls around a function of a graph, as in rows `by path`: a number stands for one function
// and the number of the path to it.
struct CallPath {
  std::string probe;
  uint64_t around = 0;  // number of the path around it; 0: it is a root

  bool operator==(const CallPath&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("around", s.around);
  }
};
using CallPaths = std::map<uint64_t, CallPath>;

}  // namespace tracectl
