// SPDX-License-Identifier: BSD-2-Clause
//
// What aggregates come to: rows, each of a probe, an aggregate, and the keys it is kept by.
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

// What a key was in a row: monostate where it could not be read. Stacks become such when rows are
// read for somebody.
using KeyValue =
    std::variant<std::monostate, int64_t, uint64_t, std::string, StackAddresses, Stack>;

struct KeyPart {
  std::string name;  // its expression: tid, str(arg0)
  KeyValue value;

  auto operator<=>(const KeyPart&) const = default;
};

struct RowKey {
  std::string probe;
  std::string aggregate = {};  // what may be added up: count, arg0, hist(arg0)
  std::vector<KeyPart> by = {};

  auto operator<=>(const RowKey&) const = default;
};

struct RowKeyHash {
  size_t operator()(const RowKey& key) const;
};

// How an aggregate is shown.
struct RowShape {
  enum class Kind : uint8_t { count, sums, hist, lhist, time };

  Kind kind = Kind::count;
  std::string of = {};       // the expression of its value; empty for a count
  bool is_unsigned = false;  // what that gives
  bool of_calls = true;      // a time: else it is one between two probes, and no part of it is self
  bool sum = false, avg = false, min = false, max = false;  // which of the sums were asked for
  int64_t low = 0, high = 0, step = 0;                      // of a linear histogram

  bool operator==(const RowShape&) const = default;
};

// A bucket of a histogram holds values from `low` to `high`, both included. They are the bits of
// what is_unsigned of the shape says.
struct Bucket {
  uint64_t low = 0, high = 0;
  bool from_least = false, to_most = false;  // low, or high, is the least or most there is
};
Bucket bucket_of(const RowShape& shape, unsigned number);
// Of the bucket that a value is in.
unsigned bucket_number(const RowShape& shape, uint64_t value);

struct Row {
  RowShape shape = {};
  uint64_t count = 0;    // hits, or values
  uint64_t unread = 0;   // hits whose value could not be read; not in `count`
  uint64_t unwound = 0;  // calls that were left without a return; not in `count`
  uint64_t self = 0;     // of the time: not in other calls that the session follows
  uint64_t sum = 0;      // modulo 2^64, as are the bits of min and max: see is_unsigned
  uint64_t min = 0, max = 0;
  std::map<unsigned, uint64_t> buckets = {};  // by number

  // Another of the same aggregate.
  void add(const Row& other);
};

using Rows = std::unordered_map<RowKey, Row, RowKeyHash>;

// By which calls a function of a graph was called, as rows `by path` have it: a number is that of one
// function, and the number of the path to it.
struct CallPath {
  std::string probe;
  uint64_t around = 0;  // 0: it is a root

  bool operator==(const CallPath&) const = default;
};
using CallPaths = std::map<uint64_t, CallPath>;

}  // namespace tracectl
