// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/quantiles.h"

#include <algorithm>

namespace tracectl {
namespace {

using namespace protocol;

uint64_t count_of(const std::vector<BucketPart>& buckets) {
  uint64_t count = 0;
  for (const BucketPart& bucket : buckets) count += bucket.count;
  return count;
}

}  // namespace

std::optional<uint64_t> ns_of(const std::optional<Integer>& member) {
  if (!member) return std::nullopt;
  return std::visit([](auto value) { return static_cast<uint64_t>(value); }, *member);
}

std::optional<uint64_t> quantile_bound(const RowPart& row, unsigned percent) {
  if (!row.hist) return std::nullopt;
  const double wanted = static_cast<double>(count_of(*row.hist)) * percent / 100;
  const auto greatest = ns_of(row.max);
  uint64_t below = 0;
  for (const BucketPart& bucket : *row.hist) {
    below += bucket.count;
    if (below == 0 || static_cast<double>(below) < wanted) continue;
    const auto end = ns_of(bucket.max);
    if (!end || !greatest) return end ? end : greatest;
    return std::min(*end, *greatest);
  }
  return std::nullopt;
}

}  // namespace tracectl
