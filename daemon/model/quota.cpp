// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/quota.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace tracectl {
namespace {

constexpr size_t kBytesOfSession = 16 << 20, kLeastRing = 64 << 10, kMostRing = 8 << 20;

Error over_quota(const std::string& whose, size_t most, const std::string& remedy) {
  return Error{Code::exhausted, whose + " may have " + std::to_string(most) + " bytes together: " +
                                    remedy + ", or ask for more (quota in tracectld.json)"};
}

}  // namespace

// glibc reads /sys/devices/system/cpu/possible, as libbpf does.
unsigned possible_cpus() {
  return static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
}

size_t default_ring_bytes(unsigned cpus) {
  return std::clamp(std::bit_floor(kBytesOfSession / cpus), kLeastRing, kMostRing);
}

size_t Quota::of_all(size_t bytes_of_one) const {
  size_t all = 0;
  const bool is_beyond_all = __builtin_mul_overflow(bytes_of_one, users, &all);
  return is_beyond_all ? std::numeric_limits<size_t>::max() : all;
}

Status Quota::check_memory(const std::string& what, const MemoryWanted& wanted,
                           size_t most_of_one) const {
  if (wanted.of_user > most_of_one)
    return over_quota("the " + what + " of a user", most_of_one, "end some");
  if (wanted.of_all > of_all(most_of_one))
    return over_quota("the " + what + " of all users", of_all(most_of_one), "wait for others");
  return ok();
}

}  // namespace tracectl
