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

TEST(Demangle, ReadsWhatRustWritesForSigns) {
  for (const auto& of : {demangle, demangle_name}) {
    EXPECT_EQ(of("_ZN47_$LT$demo..Pipe$u20$as$u20$core..fmt..Write$GT$4fill17h05af221e174051e9E"),
              "<demo::Pipe as core::fmt::Write>::fill");
    EXPECT_EQ(of("_ZN4demo4main28_$u7b$$u7b$closure$u7d$$u7d$17h05af221e174051e9E.llvm.11"),
              "demo::main::{{closure}}");
  }
}

// A name in C++ may look like a hash.
TEST(Demangle, OfRustOnlyWhatEndsInAHash) {
  EXPECT_EQ(demangle("_ZN3foo17h05af221e174051e9Ei"), "foo::h05af221e174051e9(int)");
  EXPECT_EQ(demangle("_ZN3foo17h05af221e17405zzzE"), "foo::h05af221e17405zzz");
}

TEST(Demangle, LeavesOtherNamesAlone) {
  for (const char* name : {"main", "main.main", "runtime.goexit", "_Z", "_R", "_Rx", ""})
    EXPECT_EQ(demangle(name), std::nullopt) << name;
}
