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
  EXPECT_TRUE(has_stored(code, {-40, 8}));
  EXPECT_TRUE(has_stored(code, {-44, 4}));
  EXPECT_TRUE(has_stored(code, {-44, 12}));
  EXPECT_FALSE(has_stored(code, {-45, 4}));
  EXPECT_FALSE(has_stored(code, {-40, 9}));
  EXPECT_FALSE(has_stored(code, {-24, 8}));
  EXPECT_FALSE(has_stored(code, {-40, 0}));
}

TEST(Stored, BytesAreFoundByTheStackPointer) {
  EXPECT_TRUE(has_stored(joined_stores({kMakesRoom, kStoreByStack}), {-32, 8}));
  EXPECT_FALSE(has_stored(joined_stores({kStoreByStack, kMakesRoom}), {-32, 8}));
  EXPECT_TRUE(has_stored(joined_stores({kStoreByStack}), {0, 8}));
  EXPECT_FALSE(has_stored(joined_stores({kMakesRoom, kStoreByIndex}), {-32, 8}));
}

TEST(Stored, BytesAreThoseOfStraightCodeBeforeTheEnd) {
  EXPECT_FALSE(has_stored(joined_stores({kSetsFrame, kJumpsOn, kStoreRdi}), {-40, 8}));
  EXPECT_TRUE(has_stored(joined_stores({kSetsFrame, kStoreRdi, kJumpsOn}), {-40, 8}));
  StoredCode cut = joined_stores({kSetsFrame, kStoreRdi});
  cut.pop_back();
  EXPECT_FALSE(has_stored(cut, {-40, 8}));
}

}  // namespace tracectl
