// SPDX-License-Identifier: BSD-2-Clause
//
// Functions whose return address may be replaced while they run.
#include <gtest/gtest.h>

#include <vector>

#include "daemon/object/code/pushed.h"

namespace tracectl {
namespace {

bool leaf(const std::vector<uint8_t>& code) {
  return is_leaf({.body = {0x1000, code}, .extent = Extent::whole});
}

TEST(Leaf, ComputesAndReturns) {
  EXPECT_TRUE(leaf({0x8d, 0x44, 0x3f, 0xfd, 0xc3}));                          // lea; ret
  EXPECT_TRUE(leaf({0x89, 0x7c, 0x24, 0xfc, 0x8b, 0x44, 0x24, 0xfc, 0xc3}));  // the red zone
}

TEST(Leaf, CallsNobody) {
  EXPECT_FALSE(leaf({0xe8, 0, 0, 0, 0, 0xc3}));  // call
  EXPECT_FALSE(leaf({0x0f, 0x05, 0xc3}));        // syscall
  EXPECT_FALSE(leaf({0xe9, 0, 0x10, 0, 0}));     // jmp elsewhere
}

// Each of these would find the trampoline in place of the return address.
TEST(Leaf, LeavesTheReturnAddressAlone) {
  EXPECT_FALSE(leaf({0x48, 0x8b, 0x04, 0x24, 0xc3}));           // mov (%rsp),%rax: setjmp
  EXPECT_FALSE(leaf({0x48, 0x8d, 0x54, 0x24, 0x08, 0xc3}));     // lea 8(%rsp),%rdx: setjmp
  EXPECT_FALSE(leaf({0x48, 0x89, 0xe0, 0xc3}));                 // mov %rsp,%rax
  EXPECT_FALSE(leaf({0x48, 0x8b, 0xa2, 0xa0, 0, 0, 0, 0xc3}));  // mov 0xa0(%rdx),%rsp: swapcontext
  EXPECT_FALSE(leaf({0x48, 0x89, 0xfc, 0xc3}));                 // mov %rdi,%rsp
  EXPECT_FALSE(leaf({0x5f, 0x57, 0xc3}));                       // pop %rdi; push %rdi: vfork
  EXPECT_FALSE(leaf({0x48, 0x8b, 0x44, 0x24, 0xfc, 0xc3}));     // 8 bytes at -4(%rsp)
  EXPECT_FALSE(leaf({0x8b, 0x44, 0xc4, 0xf8, 0xc3}));           // -8(%rsp,%rax,8)
}

}  // namespace
}  // namespace tracectl
