// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/quantiles.h"

#include <algorithm>
#include <bit>

namespace tracectl {

using namespace protocol;

std::optional<uint64_t> ns_of(const std::optional<Integer>& member) {
  if (!member) return std::nullopt;
  return std::visit([](auto value) { return static_cast<uint64_t>(value); }, *member);
}

void TimeBuckets::add(uint64_t ns, uint64_t count) {
  counts_[static_cast<unsigned>(std::bit_width(ns))] += count;
  count_ += count;
}

void TimeBuckets::add(const TimeBuckets& other) {
  for (const auto& [bits, count] : other.counts_) counts_[bits] += count;
  count_ += other.count_;
}

void TimeBuckets::add(const std::vector<BucketPart>& buckets) {
  for (const BucketPart& bucket : buckets)
    add(ns_of(bucket.max).value_or(UINT64_MAX), bucket.count);
}

std::optional<uint64_t> TimeBuckets::bound(unsigned percent) const {
  const double wanted = static_cast<double>(count_) * percent / 100;
  uint64_t below = 0;
  for (const auto& [bits, count] : counts_) {
    below += count;
    if (below > 0 && static_cast<double>(below) >= wanted)
      return bits ? UINT64_MAX >> (64 - bits) : 0;
  }
  return std::nullopt;
}

std::optional<uint64_t> quantile_bound(const RowPart& row, unsigned percent) {
  if (!row.hist) return std::nullopt;
  TimeBuckets buckets;
  buckets.add(*row.hist);
  const auto end = buckets.bound(percent);
  const auto greatest = ns_of(row.max);
  return end && greatest ? std::min(*end, *greatest) : end;
}

}  // namespace tracectl
