// SPDX-License-Identifier: BSD-2-Clause
//
// The programs are tests/targets/parameters*.c*; a comment in each function says where the calling
// convention puts its parameters.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "daemon/object/code/calling_convention.h"
#include "daemon/object/demangle.h"
#include "daemon/object/parameters.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

namespace tracectl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = Argument::Kind;

constexpr const char* kUnreadable = "?";

// Files and their debug information, by the names of functions, mangled or not.
class Known {
 public:
  explicit Known(const std::string& path)
      : file_(on_kernel::must(
            ElfFile::open(Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}.get(), path, "/none"))),
        parameters_(file_) {
    for (const Function& function : file_.functions()) {
      const std::string plain = demangle(function.name).value_or(function.name);
      functions_.emplace(plain.substr(0, plain.find('(')), function);
    }
  }

  bool has(const std::string& function) const { return functions_.contains(function); }
  std::optional<Arguments> of(const std::string& function) {
    return parameters_.of(functions_.at(function));
  }
  Argument result(const std::string& function) {
    return parameters_.result_of(functions_.at(function));
  }
  std::optional<Arguments> under_name(const std::string& function, const std::string& symbol) {
    Function renamed = functions_.at(function);
    renamed.name = symbol;
    return parameters_.of(renamed);
  }

 private:
  ElfFile file_;
  FunctionParameters parameters_;
  std::map<std::string, Function> functions_;
};

// "size s32 %rdi"
std::vector<std::string> shown(const std::optional<Arguments>& arguments) {
  if (!arguments) return {"unknown"};
  std::vector<std::string> all;
  for (const Argument& one : *arguments) {
    const bool readable = one.place != Argument::Place::unreadable;
    all.push_back(one.name + " " +
                  (readable ? type_name(one) + " " + one.text : std::string(kUnreadable)));
  }
  return all;
}

std::vector<std::string> declared(const std::optional<Arguments>& arguments) {
  std::vector<std::string> all;
  for (const Argument& one : arguments.value()) all.push_back(one.declared_type);
  return all;
}

std::vector<Kind> kinds(const std::optional<Arguments>& arguments) {
  std::vector<Kind> all;
  for (const Argument& one : arguments.value()) all.push_back(one.kind);
  return all;
}

class Parameters : public ::testing::TestWithParam<const char*> {
 protected:
  Known known_{on_kernel::target_path(GetParam())};
};

TEST_P(Parameters, IntegersTakeRegistersAndThenTheStack) {
  EXPECT_THAT(shown(known_.of("widths")),
              ElementsAre("s1 s8 %rdi", "u1 u8 %rsi", "s2 s16 %rdx", "u2 u16 %rcx", "s4 s32 %r8",
                          "u4 u32 %r9", "s8 s64 8(%rsp)", "u8 u64 16(%rsp)"));
  EXPECT_THAT(shown(known_.of("on_stack")),
              ElementsAre("a s64 %rdi", "b s64 %rsi", "c s64 %rdx", "d s64 %rcx", "e s64 %r8",
                          "f s64 %r9", "g s8 8(%rsp)", "h ?", "i s16 40(%rsp)"));
}

TEST_P(Parameters, FloatingPointNumbersTakeNoneOfThem) {
  EXPECT_THAT(shown(known_.of("kinds")),
              ElementsAre("size s32 %rdi", "ratio ?", "fast u8 %rsi", "mode u32 %rdx", "weight ?",
                          "path u64 %rcx", "where u64 %r8", "letter s8 %r9"));
}

TEST_P(Parameters, StructsTakeWhatTheirEightbytesTake) {
  EXPECT_THAT(shown(known_.of("aggregates")), ElementsAre("small ?", "big ?", "after s32 %rsi",
                                                          "two ?", "mixed ?", "last s64 %rcx"));
  EXPECT_THAT(shown(known_.of("odd_aggregates")),
              ElementsAre("bits ?", "number ?", "unaligned ?", "after s16 %rdx"));
  EXPECT_THAT(shown(known_.of("wide")), ElementsAre("big ?", "after u32 %rdx"));
}

TEST_P(Parameters, AResultInMemoryTakesTheFirstRegister) {
  EXPECT_THAT(shown(known_.of("returns_large")), ElementsAre("n s32 %rsi"));
}

TEST_P(Parameters, TypesAreWrittenAsInC) {
  EXPECT_THAT(declared(known_.of("kinds")),
              ElementsAre("int", "double", "_Bool", "enum color", "float", "const char *",
                          "struct pair *", "char"));
  EXPECT_THAT(kinds(known_.of("kinds")),
              ElementsAre(Kind::integer, Kind::integer, Kind::boolean, Kind::enumeration,
                          Kind::integer, Kind::text, Kind::pointer, Kind::character));
  EXPECT_THAT(kinds(known_.of("pointers")),
              ElementsAre(Kind::pointer, Kind::pointer, Kind::pointer, Kind::text));
  EXPECT_THAT(declared(known_.of("aggregates"))[1], "struct large");
}

TEST_P(Parameters, EnumerationsBringTheirEnumerators) {
  const auto arguments = known_.of("enums");
  EXPECT_THAT(shown(arguments), ElementsAre("low s32 %rdi", "typed u32 %rsi", "unnamed u32 %rdx"));
  EXPECT_THAT(*arguments->at(0).enumerators,
              ElementsAre(Enumerator{"LOW", -3}, Enumerator{"HIGH", 5}));
  EXPECT_THAT(*arguments->at(1).enumerators,
              ElementsAre(Enumerator{"RED", 0}, Enumerator{"GREEN", 7}, Enumerator{"BLUE", 8}));
  EXPECT_EQ(find_enumerator(arguments->at(0), -3)->name, "LOW");
  EXPECT_EQ(find_enumerator(arguments->at(0), 4), nullptr);
}

TEST_P(Parameters, AFunctionWithoutAnyHasNone) {
  EXPECT_EQ(known_.of("none"), Arguments{});
  EXPECT_THAT(shown(known_.of("variadic")), ElementsAre("format u64 %rdi"));
}

TEST_P(Parameters, AreKnownByName) {
  const Arguments arguments = known_.of("kinds").value();
  EXPECT_EQ(index_of(arguments, "mode"), 3u);
  EXPECT_FALSE(index_of(arguments, "arg3"));
  EXPECT_FALSE(index_of(arguments, ""));
}

TEST_P(Parameters, ACopyThatACompilerChangedHasNone) {
  for (const char* symbol : {"widths.constprop.0", "widths.isra.0", "widths.part.0", "widths.cold",
                             "widths.specialized.1", "widths.lto_priv.0.isra.0"})
    EXPECT_FALSE(known_.under_name("widths", symbol)) << symbol;
  EXPECT_TRUE(known_.under_name("widths", "widths.lto_priv.0"));
}

// gcc shows it by the places, clang by name; gcc without optimisation does not show it.
TEST_P(Parameters, AnotherConventionIsNoticed) {
  if (GetParam() == std::string("parameters_o0")) return;
  EXPECT_FALSE(known_.of("windows"));
}

TEST_P(Parameters, NoneIsTakenForAnotherThatWasDropped) {
  const bool is_clang = std::string(GetParam()).ends_with("clang");
  if (!known_.has("dropped")) return;  // with that name
  const auto arguments = known_.of("dropped");
  if (is_clang)
    EXPECT_FALSE(arguments || known_.of("promoted"));
  else
    EXPECT_THAT(shown(arguments), ElementsAre("unused s32 %rdi", "n s32 %rsi"));
}

INSTANTIATE_TEST_SUITE_P(Compiled, Parameters,
                         ::testing::Values("parameters", "parameters_dwarf4", "parameters_o0",
                                           "parameters_clang", "parameters_dwarf4_clang",
                                           "parameters_split", "parameters_split_dwarf4"),
                         [](const auto& one) { return std::string(one.param); });

class CxxParameters : public Parameters {};

TEST_P(CxxParameters, ThisIsOne) {
  EXPECT_THAT(shown(known_.of("shop::Cart::Cart")), ElementsAre("this u64 %rdi", "size s32 %rsi"));
  EXPECT_THAT(shown(known_.of("shop::Cart::add")),
              ElementsAre("this u64 %rdi", "size u8 %rsi", "count u64 %rdx"));
  EXPECT_THAT(shown(known_.of("shop::Cart::total")), ElementsAre("start s64 %rdi"));
  EXPECT_THAT(shown(known_.of("shop::Cart::name[abi:cxx11]")),
              ElementsAre("this u64 %rsi", "upper u8 %rdx"));
}

TEST_P(CxxParameters, WhatMustNotBeCopiedByItsBytesComesAsAnAddress) {
  EXPECT_THAT(shown(known_.of("shop::objects")),
              ElementsAre("copied u64 %rdi", "trivial ?", " ?", "after s16 %rdx"));
  EXPECT_THAT(shown(known_.of("shop::nested")),
              ElementsAre("defaulted ?", "holder u64 %rsi", "after s32 %rdx"));
}

TEST_P(CxxParameters, PacksAreTakenApart) {
  const auto arguments = known_.of("void shop::packed<int, bool, char>").value();
  ASSERT_EQ(arguments.size(), 3u);
  EXPECT_EQ(arguments[1].kind, Kind::boolean);
  EXPECT_EQ(arguments[2].text, "%rdx");
}

INSTANTIATE_TEST_SUITE_P(Compiled, CxxParameters,
                         ::testing::Values("parameters_cxx", "parameters_cxx_clang"),
                         [](const auto& one) { return std::string(one.param); });

// ---- results ----

Argument result_in(const char* target, const char* function) {
  return Known(on_kernel::target_path(target)).result(function);
}

TEST(ResultTest, IsAtThePlaceThatTheTypeAndTheConventionGive) {
  for (const char* target : {"returned", "returned_o0", "returned_clang"}) {
    EXPECT_EQ(type_name(result_in(target, "of_s16")), "s16");
    EXPECT_EQ(result_in(target, "of_s16").text, "%rax");
    EXPECT_EQ(result_in(target, "of_enum").kind, Kind::enumeration);
    EXPECT_EQ(result_in(target, "of_bool").kind, Kind::boolean);
    EXPECT_EQ(result_in(target, "of_text").declared_type, "const char *");
    EXPECT_EQ(result_in(target, "of_large").declared_type, "struct large *");
    EXPECT_EQ(result_in(target, "of_large").kind, Kind::pointer);
    EXPECT_EQ(result_in(target, "of_double").declared_type, "double");
    EXPECT_EQ(result_in(target, "of_double").place, Argument::Place::unreadable);
    EXPECT_EQ(result_in(target, "of_no_value").place, Argument::Place::nothing);
  }
  EXPECT_EQ(result_in("returned", "of_local").declared_type, "int");
  EXPECT_TRUE(is_bare_register(result_in("returned_clang", "of_local")));
  EXPECT_TRUE(is_bare_register(result_in("returned_plain", "of_s64")));
}

// A struct of `long double` is passed in memory, and returned in a register: there is no address before the parameters.
TEST(ResultTest, OnlyOneInMemoryHasItsAddressPassed) {
  Known known(on_kernel::target_path("returned"));
  EXPECT_THAT(shown(known.of("of_x87")), ElementsAre("n s64 %rdi"));
  EXPECT_THAT(shown(known.of("of_large")), ElementsAre("n s64 %rsi"));
  EXPECT_THAT(shown(known.of("of_union")), ElementsAre("n s32 %rsi"));
}

TEST(SeatingTest, BehindAnUnknownTypeNoPlaceIsCertain) {
  Seating seating;
  const Passing integer{.way = Passing::Way::registers, .integer_registers = 1};
  EXPECT_EQ(seating.next(integer).integer, Register::rdi);
  EXPECT_EQ(seating.next({}).where, Seat::Where::lost);
  EXPECT_EQ(seating.next(integer).where, Seat::Where::lost);
}

TEST(SeatingTest, AStructThatDoesNotFitLeavesItsRegistersToOthers) {
  Seating seating;
  const Passing one{.way = Passing::Way::registers, .integer_registers = 1};
  const Passing two{.way = Passing::Way::registers, .integer_registers = 2, .size_bytes = 16};
  for (int i = 0; i < 5; ++i) seating.next(one);
  EXPECT_EQ(seating.next(two).stack_offset, 8u);
  EXPECT_EQ(seating.next(one).integer, Register::r9);
  EXPECT_EQ(seating.next(one).stack_offset, 24u);
}

}  // namespace
}  // namespace tracectl
