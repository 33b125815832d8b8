// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/id_pool.h"

#include <gtest/gtest.h>

namespace tracectl {
namespace {

// A table that grows by need then has the least memory.
TEST(IdPool, TakesTheLowestUnusedFirst) {
  IdPool ids(1, 100);
  for (uint32_t id = 1; id < 10; ++id) EXPECT_EQ(ids.take(), id);
  for (const uint32_t id : {3u, 9u, 1u, 7u}) ids.give_back(id);
  for (const uint32_t id : {1u, 3u, 7u, 9u, 10u}) EXPECT_EQ(ids.take(), id);
  EXPECT_EQ(ids.end(), 11u);
}

}  // namespace
}  // namespace tracectl
