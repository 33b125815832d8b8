// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/row_parts.h"

#include <algorithm>
#include <type_traits>

#include "daemon/model/expr.h"
#include "daemon/protocol/stacks.h"

namespace tracectl {
namespace {

using namespace protocol;

bool is_histogram(const RowShape& shape) {
  return shape.kind == RowShape::Kind::hist || shape.kind == RowShape::Kind::lhist;
}

Integer integer(const RowShape& shape, uint64_t bits) {
  if (shape.is_unsigned) return bits;
  return static_cast<int64_t>(bits);
}

double average(const Row& row) {
  const double sum = row.shape.is_unsigned ? static_cast<double>(row.sum)
                                           : static_cast<double>(static_cast<int64_t>(row.sum));
  return sum / static_cast<double>(row.count);
}

BucketPart part_of(const RowShape& shape, unsigned number, uint64_t count) {
  const Bucket bucket = bucket_of(shape, number);
  BucketPart part{.count = count};
  RowShape bounds = shape;
  if (shape.kind == RowShape::Kind::lhist) bounds.is_unsigned = false;  // as they were given
  if (!bucket.from_least) part.min = integer(bounds, bucket.low);
  if (!bucket.to_most) part.max = integer(bounds, bucket.high);
  return part;
}

std::vector<BucketPart> buckets_of(const Row& row) {
  std::vector<BucketPart> parts;
  for (const auto& [number, count] : row.buckets)
    if (count) parts.push_back(part_of(row.shape, number, count));
  return parts;
}

void add_split(const Row& row, RowPart& part) {
  part.running = row.running;
  part.runnable = row.runnable;
  part.blocked = row.blocked;
  if (row.split < row.count) part.unsplit = row.count - row.split;
}

void add_time(const Row& row, RowPart& part) {
  part.sum = Integer{row.sum};
  if (row.shape.of_calls) {
    part.self = row.self;
    part.probes = row.probes;
  }
  if (row.shape.splits) add_split(row, part);
  part.hist = buckets_of(row);
  if (row.count == 0) return;
  if (!row.shape.of_calls) part.avg = average(row);
  part.min = Integer{row.min};
  part.max = Integer{row.max};
}

void add_sums(const Row& row, RowPart& part) {
  if (row.shape.sum) part.sum = integer(row.shape, row.sum);
  if (row.count == 0) return;
  if (row.shape.avg) part.avg = average(row);
  if (row.shape.min) part.min = integer(row.shape, row.min);
  if (row.shape.max) part.max = integer(row.shape, row.max);
}

void add_histogram(const Row& row, RowPart& part) {
  part.hist = buckets_of(row);
  if (row.shape.kind == RowShape::Kind::lhist) part.step = static_cast<uint64_t>(row.shape.step);
}

// None for a stack, which is no JSON value.
std::optional<Key> key_of(const KeyValue& value) {
  const auto plain = [](const auto& held) -> std::optional<Key> {
    if constexpr (std::is_constructible_v<Key, decltype(held)>) return Key{held};
    return std::nullopt;
  };
  return std::visit(plain, value);
}

Named<Key> named(const std::vector<KeyPart>& by) {
  Named<Key> named;
  for (const KeyPart& part : by)
    if (auto key = key_of(part.value)) named.emplace(part.name, *std::move(key));
  return named;
}

void add_stack(const KeyPart& key, RowPart& part) {
  const auto* stack = std::get_if<Stack>(&key.value);
  if (!stack) return;
  if (key.name == name_of(Operand::caller)) {
    if (!stack->frames.empty()) part.caller = protocol::part_of(stack->frames.back());
    return;
  }
  part.stack = protocol::parts_of(*stack);
  part.stack_by = std::string(name_of(stack->by));
  part.stack_end = std::string(name_of(stack->end));
}

RowPart part_of(const RowKey& key, const Row& row) {
  RowPart part{.probe = key.probe, .count = row.count};
  if (!row.shape.of.empty()) part.of = row.shape.of;
  if (!key.by.empty()) part.by = named(key.by);
  for (const KeyPart& one : key.by) add_stack(one, part);
  if (row.shape.kind == RowShape::Kind::sums) add_sums(row, part);
  if (is_histogram(row.shape)) add_histogram(row, part);
  if (row.shape.kind == RowShape::Kind::time) add_time(row, part);
  if (row.unread) part.unread = row.unread;
  if (row.unwound) part.unwound = row.unwound;
  return part;
}

bool dearer(const Rows::value_type* a, const Rows::value_type* b) {
  if (a->second.count != b->second.count) return a->second.count > b->second.count;
  return a->first < b->first;
}

}  // namespace

std::vector<RowPart> parts_of(const Rows& rows) {
  std::vector<const Rows::value_type*> sorted;
  for (const auto& row : rows) sorted.push_back(&row);
  std::sort(sorted.begin(), sorted.end(), dearer);
  std::vector<RowPart> parts;
  for (const auto* row : sorted) parts.push_back(part_of(row->first, row->second));
  return parts;
}

std::vector<PathPart> parts_of(const CallPaths& paths) {
  std::vector<PathPart> parts;
  for (const auto& [number, path] : paths)
    parts.push_back({.path = number, .around = path.around, .probe = path.probe});
  return parts;
}

std::vector<LatencyPart> parts_of(const Latencies& latencies) {
  std::vector<LatencyPart> parts;
  for (const auto& [key, result] : latencies) {
    LatencyPart part{.from = key.from,
                     .to = key.to,
                     .by = key.by,
                     .started = result.started,
                     .matched = result.matched,
                     .open = result.open(),
                     .overwritten = result.overwritten,
                     .unmatched = result.unmatched,
                     .unread = result.unread,
                     .dropped = result.dropped,
                     .slowest = {},
                     .unlisted = result.unlisted};
    for (const SlowPair& slow : result.slowest)
      part.slowest.push_back({.duration = slow.duration_ns,
                              .ended = slow.ended_ns,
                              .by = named(slow.by),
                              .from_pid = slow.from_pid,
                              .from_tid = slow.from_tid,
                              .to_pid = slow.to_pid,
                              .to_tid = slow.to_tid});
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace tracectl
