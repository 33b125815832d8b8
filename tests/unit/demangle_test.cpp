// SPDX-License-Identifier: BSD-2-Clause
//
// The symbols of Rust are from RFC 2603 and from the tests of rustc's own demangler.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

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

TEST(Demangle, ReadsGenericArgumentsAndClosuresOfRust) {
  const std::pair<const char*, const char*> expected[]{
      {"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"},
      {"_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_"
       "4iter8iterator8Iterator9rposition"
       "NCNgNpB9_6memchr7memrchrs_0E0Bb_",
       "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::"
       "<core::slice::memchr::memrchr::{closure#1}>::{closure#0}"},
      {"_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_"
       "ECs1iopQbuBiw2_3std",
       "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>"},
      {"_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE",
       "std::mem::align_of::<std::mem::Discriminant>"},
      {"_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>"},
      {"_RMCs4fqI2P2rA04_13const_genericINtB0_6SignedKanb_E", "<const_generic::Signed<-11>>"},
      {"_RMCs4fqI2P2rA04_13const_genericINtB0_4BoolKb0_E", "<const_generic::Bool<false>>"},
      {"_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc76_E", "<const_generic::Char<'v'>>"},
      {"_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKca_E", "<const_generic::Char<'\\n'>>"},
      {"_RNvNvMCs4fqI2P2rA04_13const_genericINtB4_3FooKpE3foo3FOO",
       "<const_generic::Foo<_>>::foo::FOO"},
      {"_RNvC9backtrace3foo.llvm.A5310EB9", "backtrace::foo"},
  };
  for (const auto& of : {demangle, demangle_name})
    for (const auto& [symbol, name] : expected) EXPECT_EQ(of(symbol), name);
}

TEST(Demangle, ReadsTypesOfRust) {
  const std::pair<std::string, const char*> expected[]{
      {"RuTuETmEThmE", "&(), ((),), (u32,), (u8, u32)"},
      {"QhRL_hPhOhShAhj10_", "&mut u8, &u8, *const u8, *mut u8, [u8], [u8; 16]"},
      {"FhEuFUKCmEzFK8c_unwindEu",
       "fn(u8), unsafe extern \"C\" fn(u32) -> !, extern \"c-unwind\" fn()"},
      {"FG_RL0_hERL0_h", "for<'a> fn(&'a u8) -> &'a u8"},
      {"DNtC1a1bNtC1a1cEL_", "dyn a::b + a::c"},
  };
  for (const auto& [types, text] : expected)
    EXPECT_EQ(demangle("_RINvC1a1f" + types + "E"), std::string("a::f::<") + text + ">") << types;
}

TEST(Demangle, ReadsCharactersOfRustBeyondAscii) {
  EXPECT_EQ(demangle("_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y"),
            "utf8_idents::საჭმელად_გემრიელი_სადილი");
  EXPECT_EQ(demangle("_RNvC1au10mnchen_3ya"), "a::münchen");
  for (const char* broken : {"_RNvC1au1_", "_RNvC1au7mnchen_", "_RNvC1au8zzzzzzzz", "_RNvC1au3a_A"})
    EXPECT_EQ(demangle(broken), std::nullopt) << broken;
}

TEST(Demangle, ReadsNoBrokenSymbolOfRust) {
  const std::string whole =
      "_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENgC4iter8Iterator9rpositionuE0";
  ASSERT_TRUE(demangle(whole));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(demangle(whole.substr(0, size)), std::nullopt) << size;
  for (const char* broken :
       {"_RNvC1a1b1c", "_RNvC1a9b", "_RNvB_1a", "_RNvB5_1a", "_RNvNvC1aBzzzzzzzzzzzzzzz_1b",
        "_RINvC1a1bKb2_E", "_RINvC1a1bKc110000_E", "_RINvC1a1bKdf_E", "_RINvC1a1bRL5_hE",
        "_R0NvC1a1b", "_RNvC99999999999999999999991a1b"})
    EXPECT_EQ(demangle(broken), std::nullopt) << broken;
}

namespace {

// A generic argument, then `count` that each are twice the one before.
std::string doubled_in_rust(size_t count) {
  const std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string symbol = "INvC1a1fTmmE";
  size_t last = symbol.size() - 4;
  for (size_t one = 0; one < count; ++one) {
    const std::string back = last > 62 ? std::string(1, digits[(last - 1) / 62]) : "";
    const std::string reference = "B" + back + digits[(last - 1) % 62] + "_";
    last = symbol.size();
    symbol += "T" + reference + reference + "E";
  }
  return "_R" + symbol + "E";
}

// The same with parameters of f: a<b, b> and so on.
std::string doubled_in_cxx(size_t count) {
  const std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string symbol = "_Z1f1aI1bS0_E";
  size_t last = 2;
  for (size_t one = 0; one < count; ++one, ++last) {
    const std::string reference = "S" + std::string(1, digits[last - 1]) + "_";
    symbol += "S_I" + reference + reference + "E";
  }
  return symbol;
}

}  // namespace

// Each would fill any memory, or take years.
TEST(Demangle, LimitsWhatASymbolStandsFor) {
  EXPECT_EQ(demangle(doubled_in_rust(2)),
            "a::f::<(u32, u32), ((u32, u32), (u32, u32)), "
            "(((u32, u32), (u32, u32)), ((u32, u32), (u32, u32)))>");
  EXPECT_EQ(demangle(doubled_in_rust(60)), std::nullopt);
  EXPECT_EQ(demangle(doubled_in_cxx(2)),
            "f(a<b, b>, a<a<b, b>, a<b, b> >, a<a<a<b, b>, a<b, b> >, a<a<b, b>, a<b, b> > >)");
  EXPECT_EQ(demangle(doubled_in_cxx(30)), std::nullopt);
  EXPECT_EQ(demangle_name(doubled_in_cxx(30)), "f");
  const std::string lifetimes = "FGzzzzzzzzz_uEu";
  EXPECT_EQ(demangle("_RINvC1a1f" + lifetimes + "E"), std::nullopt);
  EXPECT_EQ(demangle("_RMINvC1a1f" + lifetimes + "Eu"), std::nullopt);
  std::string many =
      "_RMINvC1a1f";  // each list of lifetimes is within the limit, all together are not
  for (int list = 0; list < 100; ++list) many += "FGh1y_Eu";
  EXPECT_NE(demangle("_RMINvC1a1fFGh1y_EuEu"), std::nullopt);
  EXPECT_EQ(demangle(many + "Eu"), std::nullopt);
  EXPECT_EQ(demangle("_RNvC1au6a_rc4g"), std::nullopt) << "half of a pair of UTF-16";
  for (const char* deep : {"R", "T", "INvC1a1f", "NvM"})
    for (const char* of : {"_R", "_RINvC1a1f"}) {
      std::string symbol = of;
      for (int level = 0; level < 100'000; ++level) symbol += deep;
      EXPECT_EQ(demangle(symbol), std::nullopt) << of << deep;
    }
}

TEST(Demangle, LeavesOtherNamesAlone) {
  for (const char* name : {"main", "main.main", "runtime.goexit", "_Z", "_R", "_Rx", ""})
    EXPECT_EQ(demangle(name), std::nullopt) << name;
}
