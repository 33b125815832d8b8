// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace tracectl {
namespace {

using namespace protocol;

using Wide = __int128;  // holds any bound, and the next number

constexpr uint64_t kBarWidth = 40;

// Values from `low` up to, but without, `end`; none: no bound.
struct Interval {
  std::optional<Wide> low, end;
  uint64_t count = 0;
};

std::optional<Wide> wide(const std::optional<Integer>& integer) {
  if (!integer) return std::nullopt;
  return std::visit([](auto value) { return static_cast<Wide>(value); }, *integer);
}

Interval interval_of(const BucketPart& bucket) {
  Interval interval{wide(bucket.min), wide(bucket.max), bucket.count};
  if (interval.end) ++*interval.end;
  return interval;
}

// The end of the empty interval from `low`; `next` is where the next nonempty one begins.
Wide end_of_gap(bool linear, Wide low, Wide next) {
  if (linear) return next;
  return low < 1 ? low + 1 : std::min(2 * low, next);
}

void add_gaps(bool linear, Wide low, Wide next, std::vector<Interval>& intervals) {
  while (low < next) {
    const Wide end = end_of_gap(linear, low, next);
    intervals.push_back({low, end, 0});
    low = end;
  }
}

std::vector<Interval> intervals_of(const RowPart& row) {
  std::vector<Interval> intervals;
  for (const BucketPart& bucket : *row.hist) {
    const Interval next = interval_of(bucket);
    if (!intervals.empty() && intervals.back().end && next.low)
      add_gaps(row.step.has_value(), *intervals.back().end, *next.low, intervals);
    intervals.push_back(next);
  }
  return intervals;
}

std::string bound_text(Wide bound, bool linear) {
  constexpr const char* kUnits[] = {"", "K", "M", "G", "T", "P", "E"};
  size_t unit = 0;
  while (!linear && unit + 1 < std::size(kUnits) && bound != 0 && bound % 1024 == 0) {
    bound /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", bound, kUnits[unit]);
}

std::string interval_text(const Interval& interval, bool linear) {
  if (interval.low && interval.end && *interval.low + 1 == *interval.end)
    return "[" + bound_text(*interval.low, linear) + "]";
  return (interval.low ? "[" + bound_text(*interval.low, linear) : "(...") + ", " +
         (interval.end ? bound_text(*interval.end, linear) : "...") + ")";
}

// In proportion to the greatest; a double is precise enough for 40 places.
std::string bar(uint64_t count, uint64_t most) {
  const double share = most ? static_cast<double>(count) / static_cast<double>(most) : 0;
  return std::string(static_cast<size_t>(share * kBarWidth), '@');
}

}  // namespace

std::string histogram_text(const RowPart& row) {
  const bool linear = row.step.has_value();
  const std::vector<Interval> intervals = intervals_of(row);
  size_t text_width = 0, count_width = 0;
  uint64_t most = 0;
  for (const Interval& interval : intervals) {
    text_width = std::max(text_width, interval_text(interval, linear).size());
    count_width = std::max(count_width, std::to_string(interval.count).size());
    most = std::max(most, interval.count);
  }
  std::string out;
  for (const Interval& interval : intervals)
    out += fmt::format("{:<{}}  {:>{}}  |{:<{}}|\n", interval_text(interval, linear), text_width,
                       interval.count, count_width, bar(interval.count, most), kBarWidth);
  return out;
}

}  // namespace tracectl
