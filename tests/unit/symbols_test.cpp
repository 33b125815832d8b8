// SPDX-License-Identifier: BSD-2-Clause
//
// The addresses of symbols relative to a site, compared with those of the program's own symbol table.
#include "daemon/object/symbols.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bpf/abi.h"
#include "daemon/base/fd.h"
#include "daemon/spec/names.h"
#include "daemon/spec/parse.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

using namespace tracectl;
using on_kernel::must;
using testing::HasSubstr;

namespace {

struct Asked {
  std::shared_ptr<const ObjectFile> object;
  ProbeMatch match;

  const ElfFile& elf() const { return object->elf(); }
  std::string why() const { return match.refused.size() == 1 ? match.refused[0].reason : ""; }
  // The address that the site's symbol has by the distance.
  uint64_t address(size_t number) const {
    const Site& site = match.probes.at(0).sites.at(0);
    const Argument& symbol = site.symbols->at(number);
    EXPECT_EQ(symbol.base, kInstructionPointer);
    return elf().address_of(site.offset).value() + static_cast<uint64_t>(symbol.offset);
  }
};

Asked asked(const char* program, const std::string& pattern,
            const std::vector<std::string>& names) {
  const std::string path = on_kernel::target_path(program);
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  Asked all{must(ObjectFile::open(file.get(), path)), {}};
  all.match = must(find_probes(all.object, must(parse_pattern(pattern))));
  add_symbols(all.elf(), must(parse_pattern(pattern)), names, all.match);
  return all;
}

std::string why_not(const char* program, const std::string& pattern, const std::string& name) {
  const Asked all = asked(program, pattern, {name});
  EXPECT_TRUE(all.match.probes.empty()) << name;
  return all.why();
}

}  // namespace

TEST(Symbols, HaveTheAddressesOfTheSymbolTable) {
  const Asked all =
      asked("symbols", "u::step",
            {"counter", "_ZN4shop5stockE", "shop::stock", "shop::sell", "shop::sell(int)"});
  ASSERT_EQ(all.match.probes.size(), 1u) << all.why();
  EXPECT_EQ(all.address(0), all.elf().symbol_address("counter"));
  EXPECT_EQ(all.address(1), all.elf().symbol_address("_ZN4shop5stockE"));
  EXPECT_EQ(all.address(2), all.address(1));
  EXPECT_EQ(all.address(3), all.elf().symbol_address("_ZN4shop4sellEi"));
  EXPECT_EQ(all.address(4), all.address(3));
}

TEST(Symbols, AreBehindTheArguments) {
  const Asked all = asked("symbols", "u::step", {"counter"});
  const Site& site = all.match.probes.at(0).sites.at(0);
  const auto operands = operands_of(site);
  EXPECT_EQ(operands->size(), site.args->size() + 1);
  EXPECT_EQ(count_of_probe(*operands), site.args->size());
  EXPECT_EQ(index_of_symbol(*operands, "counter"), site.args->size());
  EXPECT_EQ(index_of(*operands, "counter"), std::nullopt);
  EXPECT_EQ(index_of_symbol(*operands, "handler"), std::nullopt);
}

TEST(Symbols, ThatHaveNoOneAddressAreRefused) {
  EXPECT_THAT(why_not("symbols", "u::step", "countr"),
              HasSubstr("\"countr\" is no symbol of it; did you mean \"counter\"?"));
  EXPECT_THAT(why_not("symbols", "u::step", "of_thread"), HasSubstr("thread-local"));
  EXPECT_THAT(why_not("symbols", "u::step", "chosen"), HasSubstr("chosen when the file is loaded"));
  EXPECT_THAT(why_not("symbols", "u::step", "(anonymous namespace)::twice"),
              HasSubstr("2 symbols"));
  EXPECT_THAT(why_not("symbols", "u::twelve", "counter"), HasSubstr("has 12 arguments"));
}

TEST(Symbols, OfLibrariesAreThoseThatNoProgramCopies) {
  EXPECT_THAT(why_not("symbols_library", "u::used", "exported"), HasSubstr("may have a copy"));
  EXPECT_THAT(why_not("symbols_library", "u::used", "a_number"), HasSubstr("is a number"));
  for (const char* name : {"hidden", "shielded", "local", "sum"})
    EXPECT_EQ(asked("symbols_library", "u::used", {name}).match.probes.size(), 1u) << name;
}

TEST(Symbols, OfManySitesAreSharedWhereTheFileHasItsAddresses) {
  const Asked all = asked("sites", "u::s[1-9]*", {"main"});
  ASSERT_EQ(all.match.probes.size(), 100'000u) << all.why();
  const auto& symbols = all.match.probes[0].sites[0].symbols;
  EXPECT_EQ(symbols->at(0).base, Register::none);
  EXPECT_EQ(static_cast<uint64_t>(symbols->at(0).offset), all.elf().symbol_address("main"));
  EXPECT_EQ(all.match.probes.back().sites[0].symbols, symbols);
  EXPECT_THAT(why_not("large", "u::part_*", "main"),
              HasSubstr("for 2000 sites of a file, and 10001 match"));
}

TEST(Symbols, AreWantedWhereTheyAreEvaluated) {
  const auto condition = [](const char* text) { return must(parse_condition(text)); };
  Setting setting{.pattern = must(parse_pattern("u::f")), .target = {}, .spec = {}};
  setting.spec.when = condition("uaddr(\"a\") == arg0 || u8(uaddr(\"b\") + 1) == 1");
  EXPECT_EQ(symbols_of(setting), (std::vector<std::string>{"a", "b"}));
  setting.latency = Latency{.from = setting.pattern, .by = {condition("uaddr(\"c\")")}};
  EXPECT_EQ(symbols_of(setting, TC_PAIR_TO), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(symbols_of(setting, TC_PAIR_FROM), (std::vector<std::string>{"c"}));
}
