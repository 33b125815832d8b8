// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/quota.h"

#include <bpf/libbpf.h>
#include <gtest/gtest.h>

#include <bit>

#include "daemon/sessions/engine.h"

using namespace tracectl;

namespace {

constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB;

TEST(RingsByDefault, AreSmallerWhereThereAreMoreCpus) {
  for (const auto& [cpus, bytes] : {std::pair{1u, 8 * kMiB},
                                    {2u, 8 * kMiB},
                                    {3u, 4 * kMiB},
                                    {4u, 4 * kMiB},
                                    {6u, 2 * kMiB},
                                    {64u, 256 * kKiB},
                                    {4096u, 64 * kKiB}})
    EXPECT_EQ(default_ring_bytes(cpus), bytes) << cpus;
}

// check_share_of_rings() divides half of the sessions with events that all users together may have.
TEST(RingsByDefault, LeaveEachUserASessionWithEventsUpTo256Cpus) {
  const Quota quota;
  for (unsigned cpus = 1; cpus <= 256; ++cpus) {
    const size_t of_session = default_ring_bytes(cpus) * cpus;
    EXPECT_TRUE(std::has_single_bit(default_ring_bytes(cpus)));
    EXPECT_GE(quota.ring_bytes / of_session, quota.sessions) << cpus;
    EXPECT_GE(quota.of_all(quota.ring_bytes) / of_session / 2, quota.most_users) << cpus;
  }
}

TEST(RingsByDefault, AreForTheCpusThatTheKernelCounts) {
  EXPECT_EQ(possible_cpus(), static_cast<unsigned>(libbpf_num_possible_cpus()));
  EXPECT_EQ(EngineOptions{}.ring_bytes,
            default_ring_bytes(static_cast<unsigned>(libbpf_num_possible_cpus())));
}

}  // namespace
