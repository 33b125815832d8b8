// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "daemon/protocol/messages.h"

namespace tracectl {

// A member of a row of times, in ns; none if the row lacks it.
std::optional<uint64_t> ns_of(const std::optional<protocol::Integer>& member);

// How many times there were of each power of two, as in rows of times.
class TimeBuckets {
 public:
  void add(uint64_t ns, uint64_t count = 1);
  void add(const TimeBuckets& other);
  void add(const std::vector<protocol::BucketPart>& buckets);
  // A bound in ns that this percentage of the times do not exceed: the end of the bucket in which it is reached. At most
  // twice the time itself. None without times.
  std::optional<uint64_t> bound(unsigned percent) const;

 private:
  std::map<unsigned, uint64_t> counts_;  // by the number of bits
  uint64_t count_ = 0;
};

// The same of a row's times, and not more than the greatest of them.
std::optional<uint64_t> quantile_bound(const protocol::RowPart& row, unsigned percent);

}  // namespace tracectl
