// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/rows.h"

#include <algorithm>
#include <bit>

namespace tracectl {
namespace {

constexpr uint64_t kSign = uint64_t{1} << 63;

bool less(const RowShape& shape, uint64_t a, uint64_t b) {
  return shape.is_unsigned ? a < b : (a ^ kSign) < (b ^ kSign);
}

Bucket log_bucket(const RowShape& shape, unsigned number) {
  if (number == 0) return {kSign, ~uint64_t{0}, true, false};
  if (number == 1) return {0, 0, false, false};
  const uint64_t low = uint64_t{1} << (number - 2);
  const bool last = number - 2 == (shape.is_unsigned ? 63u : 62u);
  return {low, last ? (shape.is_unsigned ? ~uint64_t{0} : ~kSign) : 2 * low - 1, false, last};
}

Bucket linear_bucket(const RowShape& shape, unsigned number) {
  const auto low = static_cast<uint64_t>(shape.low), high = static_cast<uint64_t>(shape.high);
  const auto step = static_cast<uint64_t>(shape.step);
  if (number == 0) return {shape.is_unsigned ? 0 : kSign, low - 1, true, false};
  if (number - 1 > (high - low - 1) / step)
    return {high, shape.is_unsigned ? ~uint64_t{0} : ~kSign, false, true};
  const uint64_t start = low + (number - 1) * step;
  return {start, start + std::min(step, high - start) - 1, false, false};
}

constexpr size_t kOdd = 0x9e3779b97f4a7c15;  // spreads neighbours over all bits

template <class T> size_t hash_of(const T& value) { return std::hash<T>{}(value); }

size_t hash_of(const StackAddresses& stack) {
  size_t hash = static_cast<size_t>(stack.pid) * kOdd + stack.image;
  for (const uint64_t address : stack.addresses) hash = hash * kOdd + address;
  return hash;
}

size_t hash_of(const Stack& stack) {
  size_t hash = stack.frames.size();
  for (const Frame& frame : stack.frames)
    hash = (hash * kOdd + frame.address) * kOdd + frame.offset + frame.line;
  return hash;
}

}  // namespace

size_t RowKeyHash::operator()(const RowKey& key) const {
  size_t hash = std::hash<std::string>{}(key.probe);
  for (const KeyPart& part : key.by)
    hash = hash * kOdd + std::visit([](const auto& held) { return hash_of(held); }, part.value);
  return hash;
}

Bucket bucket_of(const RowShape& shape, unsigned number) {
  return shape.kind == RowShape::Kind::lhist ? linear_bucket(shape, number)
                                             : log_bucket(shape, number);
}

unsigned bucket_number(const RowShape& shape, uint64_t value) {
  const bool is_negative = !shape.is_unsigned && (value & kSign);
  if (shape.kind != RowShape::Kind::lhist) {
    if (is_negative) return 0;
    return value ? 1 + static_cast<unsigned>(std::bit_width(value)) : 1;
  }
  const auto low = static_cast<uint64_t>(shape.low), high = static_cast<uint64_t>(shape.high);
  const auto step = static_cast<uint64_t>(shape.step);
  // Bounds are signed, even if values are unsigned.
  const bool is_beyond = shape.is_unsigned && (value & kSign);
  if (!is_beyond && static_cast<int64_t>(value) < shape.low) return 0;
  if (is_beyond || static_cast<int64_t>(value) >= shape.high)
    return static_cast<unsigned>(2 + (high - low - 1) / step);
  return static_cast<unsigned>(1 + (value - low) / step);
}

void Row::add(const Row& other) {
  if (other.count && (!count || less(shape, other.min, min))) min = other.min;
  if (other.count && (!count || less(shape, max, other.max))) max = other.max;
  count += other.count;
  unread += other.unread;
  unwound += other.unwound;
  self += other.self;
  probes += other.probes;
  split += other.split;
  running += other.running;
  runnable += other.runnable;
  blocked += other.blocked;
  sum += other.sum;
  for (const auto& [number, values] : other.buckets) buckets[number] += values;
}

}  // namespace tracectl
