// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "client/render/row_order.h"
#include "client/render/text.h"

namespace tracectl {
namespace {

using namespace protocol;

using Wide = __int128;  // holds any bound, and the next number

constexpr uint64_t kBarWidth = 40;
constexpr const char* kDuration = "duration";  // an expression of which the values are ns

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

// How bounds are written.
enum class Scale : uint8_t { linear, log2, linear_ns, log2_ns };

bool is_linear(Scale scale) { return scale == Scale::linear || scale == Scale::linear_ns; }

Scale scale_of(const RowPart& row) {
  const bool is_time = is_of_times(row) || row.of == kDuration;
  if (row.step) return is_time ? Scale::linear_ns : Scale::linear;
  return is_time ? Scale::log2_ns : Scale::log2;
}

// In the largest unit of which it is a whole number.
std::string exact_duration(uint64_t ns) {
  constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  size_t unit = 0;
  for (; ns && ns % 1000 == 0 && unit + 1 < std::size(kUnits); ++unit) ns /= 1000;
  return fmt::format("{} {}", ns, kUnits[unit]);
}

// Powers of two are rounded, as other durations are.
std::string time_bound_text(Wide bound, Scale scale) {
  if (bound < 0 || bound > UINT64_MAX) return fmt::format("{} ns", bound);
  const auto ns = static_cast<uint64_t>(bound);
  return scale == Scale::linear_ns ? exact_duration(ns) : duration_text(ns);
}

std::string bound_text(Wide bound, Scale scale) {
  if (scale == Scale::linear_ns || scale == Scale::log2_ns) return time_bound_text(bound, scale);
  constexpr const char* kUnits[] = {"", "K", "M", "G", "T", "P", "E"};
  size_t unit = 0;
  while (!is_linear(scale) && unit + 1 < std::size(kUnits) && bound != 0 && bound % 1024 == 0) {
    bound /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", bound, kUnits[unit]);
}

std::string interval_text(const Interval& interval, Scale scale) {
  if (interval.low && interval.end && *interval.low + 1 == *interval.end)
    return "[" + bound_text(*interval.low, scale) + "]";
  return (interval.low ? "[" + bound_text(*interval.low, scale) : "(...") + ", " +
         (interval.end ? bound_text(*interval.end, scale) : "...") + ")";
}

// In proportion to the greatest; a double is precise enough for 40 places.
std::string bar(uint64_t count, uint64_t most) {
  const double share = most ? static_cast<double>(count) / static_cast<double>(most) : 0;
  return std::string(static_cast<size_t>(share * kBarWidth), '@');
}

}  // namespace

std::string histogram_text(const RowPart& row) {
  const Scale scale = scale_of(row);
  const std::vector<Interval> intervals = intervals_of(row);
  size_t text_width = 0, count_width = 0;
  uint64_t most = 0;
  for (const Interval& interval : intervals) {
    text_width = std::max(text_width, interval_text(interval, scale).size());
    count_width = std::max(count_width, std::to_string(interval.count).size());
    most = std::max(most, interval.count);
  }
  std::string out;
  for (const Interval& interval : intervals)
    out += fmt::format("{:<{}}  {:>{}}  |{:<{}}|\n", interval_text(interval, scale), text_width,
                       interval.count, count_width, bar(interval.count, most), kBarWidth);
  return out;
}

}  // namespace tracectl
