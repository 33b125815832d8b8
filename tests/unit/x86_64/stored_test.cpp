// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/stored.h"

#include <gtest/gtest.h>

#include <vector>

namespace tracectl {
namespace {

using StoredCode = std::vector<uint8_t>;

const StoredCode kSetsFrame{0x55, 0x48, 0x89, 0xe5};           // push %rbp; mov %rsp,%rbp
const StoredCode kStoreRdi{0x48, 0x89, 0x7d, 0xe8};            // mov %rdi,-24(%rbp)
const StoredCode kStoreEsi{0x89, 0x75, 0xe4};                  // mov %esi,-28(%rbp)
const StoredCode kJumpsOn{0x74, 0x00};                         // je
const StoredCode kMakesRoom{0x48, 0x83, 0xec, 0x20};           // sub $32,%rsp
const StoredCode kStoreByStack{0x48, 0x89, 0x7c, 0x24, 0x08};  // mov %rdi,8(%rsp)
const StoredCode kStoreByIndex{0x48, 0x89, 0x7c, 0x04, 0x08};  // mov %rdi,8(%rsp,%rax)

StoredCode joined_stores(const std::vector<StoredCode>& parts) {
  StoredCode all;
  for (const StoredCode& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

// rbp is 16 below the caller's stack pointer.
TEST(Stored, BytesAreFoundByTheFramePointer) {
  const StoredCode code = joined_stores({kSetsFrame, kStoreRdi, kStoreEsi});
  EXPECT_EQ(stored_by(code, FrameBytes{-40, 8}), Stored::all);
  EXPECT_EQ(stored_by(code, FrameBytes{-44, 4}), Stored::all);
  EXPECT_EQ(stored_by(code, FrameBytes{-44, 12}), Stored::all);
  EXPECT_NE(stored_by(code, FrameBytes{-45, 4}), Stored::all);
  EXPECT_NE(stored_by(code, FrameBytes{-40, 9}), Stored::all);
  EXPECT_NE(stored_by(code, FrameBytes{-24, 8}), Stored::all);
  EXPECT_NE(stored_by(code, FrameBytes{-40, 0}), Stored::all);
}

TEST(Stored, BytesAreFoundByTheStackPointer) {
  EXPECT_EQ(stored_by(joined_stores({kMakesRoom, kStoreByStack}), FrameBytes{-32, 8}), Stored::all);
  EXPECT_NE(stored_by(joined_stores({kStoreByStack, kMakesRoom}), FrameBytes{-32, 8}), Stored::all);
  EXPECT_EQ(stored_by(joined_stores({kStoreByStack}), FrameBytes{0, 8}), Stored::all);
  EXPECT_NE(stored_by(joined_stores({kMakesRoom, kStoreByIndex}), FrameBytes{-32, 8}), Stored::all);
}

TEST(Stored, BytesAreThoseOfStraightCodeBeforeTheEnd) {
  EXPECT_NE(stored_by(joined_stores({kSetsFrame, kJumpsOn, kStoreRdi}), FrameBytes{-40, 8}),
            Stored::all);
  EXPECT_EQ(stored_by(joined_stores({kSetsFrame, kStoreRdi, kJumpsOn}), FrameBytes{-40, 8}),
            Stored::all);
  StoredCode cut = joined_stores({kSetsFrame, kStoreRdi});
  cut.pop_back();
  EXPECT_NE(stored_by(cut, FrameBytes{-40, 8}), Stored::all);
}

TEST(Stored, BytesAreKnownNotToBeInStraightCodeWhoseWritesAreKnown) {
  EXPECT_EQ(stored_by(joined_stores({kSetsFrame, kStoreRdi}), FrameBytes{-44, 4}), Stored::none);
  EXPECT_EQ(stored_by(joined_stores({kSetsFrame, kStoreRdi}), FrameBytes{-44, 8}), Stored::unknown);
  EXPECT_EQ(stored_by(joined_stores({kSetsFrame, kJumpsOn}), FrameBytes{-44, 4}), Stored::unknown);
  EXPECT_EQ(stored_by(joined_stores({kMakesRoom, kStoreByIndex}), FrameBytes{-8, 4}),
            Stored::unknown);
}

}  // namespace tracectl
