// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/chunked_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace tracectl {
namespace {

TEST(ChunkedTable, FindsEachEntryAtTheBoundsOfItsParts) {
  std::vector<int> first{0, 1, 2}, chunk{3, 4}, next{5, 6};
  ChunkedTable<int> table(first, 2);
  EXPECT_EQ(table.size(), 3u);
  table.add_chunk(chunk);
  table.add_chunk(next);
  EXPECT_EQ(table.size(), 7u);
  for (uint32_t number = 0; number < table.size(); ++number)
    EXPECT_EQ(table[number], static_cast<int>(number));
  table[4] = 40;
  EXPECT_EQ(chunk[1], 40);
}

TEST(ChunkedTable, NeedsNoMoreChunksThanItMust) {
  std::vector<int> first(3), chunk(2);
  ChunkedTable<int> table(first, 2);
  EXPECT_EQ(table.chunks_to_make(0), 0u);
  EXPECT_EQ(table.chunks_to_make(3), 0u);
  EXPECT_EQ(table.chunks_to_make(4), 1u);
  EXPECT_EQ(table.chunks_to_make(5), 1u);
  EXPECT_EQ(table.chunks_to_make(6), 2u);
  table.add_chunk(chunk);
  EXPECT_EQ(table.chunks_to_make(5), 0u);
}

TEST(ChunkedTable, MayBeginWithoutEntries) {
  std::vector<int> chunk{7, 8};
  ChunkedTable<int> table({}, 2);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.chunks_to_make(1), 1u);
  table.add_chunk(chunk);
  EXPECT_EQ(table[0], 7);
  EXPECT_EQ(table[1], 8);
}

}  // namespace
}  // namespace tracectl
