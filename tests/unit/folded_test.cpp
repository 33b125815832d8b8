// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "client/render/folded.h"

using namespace tracectl;

namespace {

Stack stack_of(const std::vector<std::string>& functions, StackEnd end = StackEnd::outermost) {
  Stack stack;
  stack.end = end;
  for (const std::string& function : functions) stack.frames.emplace_back().function = function;
  return stack;
}

}  // namespace

TEST(FoldedStacks, AreCountedFromTheOutermostFunctionInwards) {
  FoldedStacks folded;
  for (uint64_t offset : {1, 2}) {
    Stack stack = stack_of({"leaf", "work", "main"});
    stack.frames[1].function_offset = offset;
    folded.add(stack);
  }
  folded.add(stack_of({"work", "main"}));
  EXPECT_EQ(folded.text(), "main;work 1\nmain;work;leaf 2\n");
}

TEST(FoldedStacks, SayWhatIsNotKnown) {
  FoldedStacks folded;
  Stack stack = stack_of({"a;b", "", ""}, StackEnd::no_table);
  stack.frames[1].module = "/usr/lib/libx.so";
  folded.add(stack);
  EXPECT_EQ(folded.text(), "[cut];[?];[libx.so];a:b 1\n");
}
