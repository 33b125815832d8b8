// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/saved/past_state.h"

#include <algorithm>
#include <vector>

#include "daemon/sandbox/wire_parts.h"

namespace tracectl {
namespace {

using recording::ByteReader;
using recording::ByteWriter;
using wire::read_enum;
using wire::read_text;

constexpr size_t kMostPastItems = 1 << 24;
constexpr size_t kMostPastText = 64 << 10;

// One description of each type serves both directions: a Coder writes what it is given, or reads into it.
// It does not read on after a value that it refuses.
class Encoder {
 public:
  explicit Encoder(ByteWriter& to) : to_(to) {}

  bool number(uint64_t value) { return to_.varint(value), true; }
  bool number(int64_t value) { return number(recording::zigzag(value)); }
  template <class T> bool number(const T& value) { return number(static_cast<uint64_t>(value)); }
  bool text(const std::string& value) { return to_.text(value), true; }
  template <class Enum> bool choice(const Enum& value, Enum) { return number(value); }
  template <class List, class Each> bool list(const List& all, Each each) {
    number(all.size());
    for (const auto& one : all) each(one);
    return true;
  }
  // In the order of the keys, so that equal maps have equal bytes.
  template <class Map, class Each> bool map(const Map& all, Each each) {
    std::vector<const typename Map::value_type*> ordered;
    for (const auto& one : all) ordered.push_back(&one);
    std::sort(ordered.begin(), ordered.end(),
              [](const auto* a, const auto* b) { return a->first < b->first; });
    number(ordered.size());
    for (const auto* one : ordered) each(one->first, one->second);
    return true;
  }

 private:
  ByteWriter& to_;
};

class Decoder {
 public:
  explicit Decoder(ByteReader& from) : from_(from) {}

  bool number(uint64_t& value) { return value = from_.varint(), !from_.failed(); }
  bool number(int64_t& value) {
    value = recording::unzigzag(from_.varint());
    return !from_.failed();
  }
  template <class T> bool number(T& value) {
    const uint64_t wide = from_.varint();
    value = static_cast<T>(wide);
    return !from_.failed() && static_cast<uint64_t>(value) == wide;
  }
  bool text(std::string& value) { return value = read_text(from_, kMostPastText), !from_.failed(); }
  template <class Enum> bool choice(Enum& value, Enum last) {
    const uint64_t wide = from_.varint();
    value = static_cast<Enum>(wide);
    return !from_.failed() && wide <= static_cast<uint64_t>(last);
  }
  template <class List, class Each> bool list(List& all, Each each) {
    uint64_t count = 0;
    if (!number(count) || count > kMostPastItems) return false;
    for (uint64_t i = 0; i < count; ++i)
      if (!each(all.emplace_back())) return false;
    return true;
  }
  template <class Map, class Each> bool map(Map& all, Each each) {
    uint64_t count = 0;
    if (!number(count) || count > kMostPastItems) return false;
    for (uint64_t i = 0; i < count; ++i) {
      typename Map::key_type key;
      typename Map::mapped_type value;
      if (!each(key, value) || !all.emplace(std::move(key), std::move(value)).second) return false;
    }
    return true;
  }

 private:
  ByteReader& from_;
};

template <class Coder, class T>
bool code(Coder& coder, T& totals) requires std::same_as<std::remove_const_t<T>, Totals> {
  return coder.number(totals.hits) && coder.number(totals.filtered) &&
         coder.number(totals.dropped_ring) && coder.number(totals.dropped_keys) &&
         coder.number(totals.cut) && coder.number(totals.silenced);
}

template <class Coder, class T>
bool code(Coder& coder, T& shape) requires std::same_as<std::remove_const_t<T>, RowShape> {
  return coder.choice(shape.kind, RowShape::Kind::time) && coder.text(shape.of) &&
         coder.number(shape.is_unsigned) && coder.number(shape.of_calls) &&
         coder.number(shape.sum) && coder.number(shape.avg) && coder.number(shape.min) &&
         coder.number(shape.max) && coder.number(shape.low) && coder.number(shape.high) &&
         coder.number(shape.step);
}

template <class Coder, class T>
bool code(Coder& coder, T& stack) requires std::same_as<std::remove_const_t<T>, StackAddresses> {
  return coder.number(stack.pid) && coder.number(stack.image) &&
         coder.number(stack.begins_with_caller) &&
         coder.choice(stack.end, StackEnd::unknown_process) &&
         coder.list(stack.addresses, [&](auto& address) { return coder.number(address); });
}

// The index of the alternative, and its value. The past has no stacks with names.
bool code(Encoder& coder, const KeyValue& value) {
  coder.number(value.index());
  return std::visit(
      [&](const auto& one) {
        using T = std::remove_cvref_t<decltype(one)>;
        if constexpr (std::same_as<T, int64_t> || std::same_as<T, uint64_t>)
          return coder.number(one);
        else if constexpr (std::same_as<T, std::string>)
          return coder.text(one);
        else if constexpr (std::same_as<T, StackAddresses>)
          return code(coder, one);
        else
          return true;
      },
      value);
}

bool code(Decoder& coder, KeyValue& value) {
  uint64_t which = 0;
  if (!coder.number(which)) return false;
  switch (which) {
    case 0: return value = std::monostate{}, true;
    case 1: return coder.number(value.emplace<int64_t>());
    case 2: return coder.number(value.emplace<uint64_t>());
    case 3: return coder.text(value.emplace<std::string>());
    case 4: return code(coder, value.emplace<StackAddresses>());
    case 5: return value = Stack{}, true;
  }
  return false;
}

template <class Coder, class Parts> bool code_parts(Coder& coder, Parts& parts) {
  return coder.list(parts,
                    [&](auto& part) { return coder.text(part.name) && code(coder, part.value); });
}

template <class Coder, class Key, class T> bool code_row(Coder& coder, Key& key, T& row) {
  return coder.text(key.probe) && coder.text(key.aggregate) && code_parts(coder, key.by) &&
         code(coder, row.shape) && coder.number(row.count) && coder.number(row.unread) &&
         coder.number(row.unwound) && coder.number(row.self) && coder.number(row.sum) &&
         coder.number(row.min) && coder.number(row.max) &&
         coder.map(row.buckets, [&](auto& bucket, auto& count) {
           return coder.number(bucket) && coder.number(count);
         });
}

template <class Coder, class T> bool code_slow(Coder& coder, T& slow) {
  return coder.number(slow.duration_ns) && coder.number(slow.ended_ns) &&
         code_parts(coder, slow.by) && coder.number(slow.from_pid) && coder.number(slow.from_tid) &&
         coder.number(slow.to_pid) && coder.number(slow.to_tid);
}

template <class Coder, class Key, class T> bool code_latency(Coder& coder, Key& key, T& of) {
  return coder.text(key.from) && coder.text(key.to) && coder.text(key.by) &&
         coder.number(of.started) && coder.number(of.overwritten) && coder.number(of.matched) &&
         coder.number(of.unmatched) && coder.number(of.unread) && coder.number(of.dropped) &&
         coder.number(of.unlisted) && coder.number(of.carried) && coder.number(of.wanted) &&
         coder.list(of.slowest, [&](auto& slow) { return code_slow(coder, slow); });
}

template <class Coder, class T> bool code_results(Coder& coder, T& past) {
  return code(coder, past.totals) &&
         coder.map(past.rows, [&](auto& key, auto& row) { return code_row(coder, key, row); }) &&
         coder.map(past.latencies,
                   [&](auto& key, auto& latency) { return code_latency(coder, key, latency); }) &&
         coder.map(past.paths, [&](auto& number, auto& path) {
           return coder.number(number) && coder.text(path.probe) && coder.number(path.around);
         });
}

}  // namespace

void write_past(const Results& past, ByteWriter& to) {
  Encoder encoder(to);
  code_results(encoder, past);
}

bool read_past(ByteReader& from, Results& past) {
  Decoder decoder(from);
  return code_results(decoder, past);
}

}  // namespace tracectl
