// SPDX-License-Identifier: BSD-2-Clause
//
// What is said of a pattern that matches nothing, and of what a glob leaves out.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/base/fd.h"
#include "daemon/object/pattern_names.h"
#include "daemon/object/probes.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

using namespace tracectl;
using on_kernel::must;
using testing::HasSubstr;

namespace {

ProbeMatch matches(const char* program, const std::string& pattern, Scope scope = Scope::local) {
  const std::string path = on_kernel::target_path(program);
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  const auto object = must(ObjectFile::open(file.get(), path));
  return must(find_probes(object, must(parse_pattern(pattern, scope))));
}

std::string why_none(const char* program, const std::string& pattern, Scope scope = Scope::local) {
  const ProbeMatch match = matches(program, pattern, scope);
  EXPECT_TRUE(match.probes.empty()) << pattern;
  return match.why_none;
}

}  // namespace

TEST(NoneFits, NamesWhatIsNear) {
  EXPECT_EQ(why_none("cold_parts", "u::wrans"), "did you mean \"warns\"?");
  EXPECT_EQ(why_none("chosen", "u::by_cude"), "did you mean \"by_code\"?");
  EXPECT_EQ(why_none("hot_usdt", "U::hot:hedaer"), "did you mean \"hot:header\"?");
  EXPECT_EQ(why_none("cold_parts", "u::nothing_of_the_kind"), "");
}

TEST(NoneFits, NamesTheRuleThatExcludesWhatFits) {
  EXPECT_THAT(why_none("cxx_names", "u::*hidden*", Scope::global),
              HasSubstr("leave --global away"));
  EXPECT_THAT(why_none("cold_parts", "u::warns.c*"), HasSubstr("warns.cold fits and is a part"));
  EXPECT_THAT(why_none("cold_parts", "u::abort"),
              HasSubstr("the file calls abort of another file"));
  EXPECT_THAT(why_none("cxx_names", "u::price"), HasSubstr("name it so, or by *::price"));
  EXPECT_THAT(why_none("cxx_names", "u::shop::orders::price(no)"),
              HasSubstr("leave the parameters away"));
  EXPECT_THAT(why_none("cold_parts", "U::*:*"), HasSubstr("no USDT probes; its functions"));
}

TEST(NoneFits, SaysNothingIfSomethingDoes) {
  EXPECT_EQ(matches("cold_parts", "u::warns").why_none, "");
}

TEST(NamesFunction, OfCxxByTheNameWithoutParameters) {
  const auto names = [](const char* pattern, const char* symbol) {
    return names_function(must(parse_pattern(pattern)), symbol);
  };
  EXPECT_TRUE(names("plain", "_Z5plaini"));
  EXPECT_TRUE(names("plain", "plain"));
  EXPECT_FALSE(names("plain", "_ZN1a5plainEi"));
  EXPECT_FALSE(names("plain", "_Z6plainsi"));
  EXPECT_FALSE(names("pla*", "_Z5plaini"));
  EXPECT_TRUE(names("a::pl*n", "_ZN1a5plainEi"));
  EXPECT_FALSE(names("a::plain()", "_ZN1a5plainEi"));
  EXPECT_TRUE(names("demo::run<int>", "_ZN4demo3runIiEEvT_"));
  EXPECT_FALSE(names("demo::run", "_ZN4demo3runIiEEvT_"));
  EXPECT_TRUE(names("run<int>", "_Z3runIiEvT_"));
  EXPECT_TRUE(names("inner", "_ZL5inneri"));
  EXPECT_FALSE(names("inne", "_ZL5inneri"));
  EXPECT_TRUE(names("operator new", "_Znwm"));
  EXPECT_FALSE(names("operators", "_Z6operatv"));
  EXPECT_TRUE(names("TLS wrapper function for x", "_ZTW1x"));
}

// They hold what means something in a glob.
TEST(NamesFunction, ThatAreShownArePatterns) {
  const auto names = [](const char* pattern, const char* symbol) {
    return names_function(must(parse_pattern(pattern)), symbol);
  };
  EXPECT_TRUE(names("u::a::B::operator[]", "_ZN1a1BixEm"));
  EXPECT_TRUE(names("u::a::B::operator[](unsigned long)", "_ZN1a1BixEm"));
  EXPECT_TRUE(names("u::a::text[abi:cxx11]", "_ZN1a4textB5cxx11Ev"));
  EXPECT_TRUE(names("u::a::text[abi:cxx11]()", "_ZN1a4textB5cxx11Ev"));
  EXPECT_TRUE(names("u::(anonymous namespace)::inner", "_ZN12_GLOBAL__N_15innerEv"));
  EXPECT_TRUE(names("u::a::B::operator()", "_ZN1a1BclEi"));
  EXPECT_FALSE(names("u::a::B::operator()", "_ZN1a1CclEi"));
}

TEST(LeftOut, PartsAreCounted) {
  const ProbeMatch match = matches("cold_parts", "u::warns*");
  ASSERT_EQ(match.probes.size(), 1u);
  ASSERT_EQ(match.notes.size(), 1u);
  EXPECT_THAT(match.notes[0], HasSubstr(": 1 part .cold left out"));
  EXPECT_TRUE(matches("cold_parts", "u::warns").notes.empty());
  EXPECT_TRUE(matches("cold_parts", "u::warns.cold").notes.empty());
}
