// SPDX-License-Identifier: BSD-2-Clause
//
// The symbols of Rust are from RFC 2603 and from its own tests.
#include <gtest/gtest.h>

#include "daemon/object/demangle.h"

using tracectl::demangle;
using tracectl::demangle_name;

TEST(Demangle, ReadsCxxAndBothManglingsOfRust) {
  EXPECT_EQ(demangle("_ZN4demo6strikeEi"), "demo::strike(int)");
  EXPECT_EQ(demangle("_ZN3foo3bar17h05af221e174051e9E"), "foo::bar");
  EXPECT_EQ(demangle("_RNvC6_123foo3bar"), "123foo::bar");
  EXPECT_EQ(demangle("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
}

TEST(Demangle, OfAFunctionTheNameAloneIfThatIsWanted) {
  EXPECT_EQ(demangle_name("_ZN4demo6strikeEi"), "demo::strike");
  EXPECT_EQ(demangle_name("_Z5twiceIiET_S0_"), "twice<int>");
  EXPECT_EQ(demangle_name("_ZN12_GLOBAL__N_15innerEv"), "(anonymous namespace)::inner");
  EXPECT_EQ(demangle_name("_ZN3foo3bar17h05af221e174051e9E"), "foo::bar");
  EXPECT_EQ(demangle_name("_RNvC6_123foo3bar"), "123foo::bar");
  EXPECT_EQ(demangle_name("main"), std::nullopt);
}

TEST(Demangle, LeavesOtherNamesAlone) {
  for (const char* name : {"main", "main.main", "runtime.goexit", "_Z", "_R", "_Rx", ""})
    EXPECT_EQ(demangle(name), std::nullopt) << name;
}
