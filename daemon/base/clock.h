// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <ctime>

namespace tracectl {

inline uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// The clock of events: nanoseconds since boot.
inline uint64_t boot_ns() { return clock_ns(CLOCK_BOOTTIME); }

// Adds its lifetime to a sum of nanoseconds.
class Stopwatch {
 public:
  explicit Stopwatch(uint64_t& sum_ns) : sum_ns_(sum_ns), start_ns_(clock_ns(CLOCK_MONOTONIC)) {}
  ~Stopwatch() { sum_ns_ += clock_ns(CLOCK_MONOTONIC) - start_ns_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  uint64_t& sum_ns_;
  uint64_t start_ns_;
};

}  // namespace tracectl
