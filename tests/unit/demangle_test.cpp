// SPDX-License-Identifier: BSD-2-Clause
//
// Symbols of Rust are those of RFC 2603 and of its own tests.
#include <gtest/gtest.h>

#include "usdt/demangle.h"

using tracectl::demangle;

TEST(Demangle, ReadsCxxAndBothManglingsOfRust) {
  EXPECT_EQ(demangle("_ZN4demo6strikeEi"), "demo::strike(int)");
  EXPECT_EQ(demangle("_ZN3foo3bar17h05af221e174051e9E"), "foo::bar");
  EXPECT_EQ(demangle("_RNvC6_123foo3bar"), "123foo::bar");
  EXPECT_EQ(demangle("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
}

TEST(Demangle, LeavesOtherNamesAlone) {
  for (const char* name : {"main", "main.main", "runtime.goexit", "_Z", "_R", "_Rx", ""})
    EXPECT_EQ(demangle(name), std::nullopt) << name;
}
