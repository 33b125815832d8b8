// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/go_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "daemon/object/go_program.h"
#include "tests/support/elf_builder.h"
#include "tests/support/must.h"

namespace tracectl {

void PrintTo(const GoFunction& one, std::ostream* out) {
  *out << one.name << " at " << one.address << " + " << one.size
       << (one.is_assembly ? ", assembly" : "");
}

namespace {

using on_file::ElfBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Each has the functions that kFunctions has, from the start of the code on.
std::string seed(const std::string& name) {
  std::ifstream in("tests/fuzz/corpus/go_functions/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

constexpr uint64_t kStart = ElfBuilder::kCodeAddress;
const std::vector<GoFunction> kFunctions{{"main.fib", kStart, 0x40, false},
                                         {"main.(*T).Close", kStart + 0x40, 0x40, false},
                                         {"runtime.memmove", kStart + 0x80, 0x40, true}};

ElfFile file_with(const std::string& table, ElfBuilder builder = {}) {
  builder.add_section(".gopclntab", SHT_PROGBITS, table, 0x500000);
  return on_kernel::must(
      ElfFile::open(on_file::as_file(builder.build()).get(), "/nonexistent/file", "/nonexistent"));
}

TEST(GoFunctions, AreThoseOfTheTable) {
  for (const char* name : {"go_1_18", "go_1_20"}) {
    const auto functions = parse_go_functions(bytes_of(seed(name)), kStart);
    ASSERT_TRUE(functions) << name;
    EXPECT_EQ(*functions, kFunctions) << name;
  }
}

TEST(GoFunctions, OfAnotherFormAreRefusedByItsNumber) {
  const auto functions = parse_go_functions(bytes_of(seed("go_1_16")), kStart);
  ASSERT_FALSE(functions);
  EXPECT_EQ(functions.error().code, Code::unsupported);
  EXPECT_THAT(functions.error().message, HasSubstr("0xfffffffa"));
}

TEST(GoFunctions, OfATruncatedTableAreRefused) {
  const std::string whole = seed("go_1_18");
  const size_t last_flags = whole.size() - 44 + 37;
  for (size_t size = 0; size <= last_flags; ++size)
    EXPECT_FALSE(parse_go_functions(bytes_of(whole.substr(0, size)), kStart)) << size;
  EXPECT_TRUE(parse_go_functions(bytes_of(whole.substr(0, last_flags + 1)), kStart));
}

TEST(GoFunctions, OfATableThatRepeatsALongNameTakeLittleMemory) {
  std::string table = seed("go_1_18");
  constexpr uint64_t kMany = 200'000, kNameBytes = 4000;
  const uint64_t names = table.size(), index = names + kNameBytes + 96;
  table.resize(names + kNameBytes, 'n');
  table.resize(index + (kMany + 1) * 8);
  const auto put = [&](uint64_t at, auto number) {
    std::memcpy(table.data() + at, &number, sizeof number);
  };
  put(8, kMany);
  put(32, names);
  put(64, index - 96);
  for (uint32_t i = 0; i <= kMany; ++i) put(index - 96 + i * 8ull, i);
  EXPECT_FALSE(parse_go_functions(bytes_of(table), kStart));
}

TEST(GoFunctions, NameTheFunctionsOfAStrippedFile) {
  const ElfFile file = file_with(seed("go_1_18"));
  std::vector<std::string> names;
  for (const Function& one : file.functions()) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("main.fib", "main.(*T).Close", "runtime.memmove"));
  EXPECT_EQ(file.functions()[1].offset, file.offset_of(kStart + 0x40));
}

TEST(GoFunctions, HaveTheNamesOfSymbolsIfThereAreAny) {
  ElfBuilder builder;
  builder.add_function("main.fib.abi0", kStart, 0x40);
  const ElfFile file = file_with(seed("go_1_18"), std::move(builder));
  std::vector<std::string> names;
  for (const Function& one : file.functions()) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("main.fib.abi0", "main.(*T).Close", "runtime.memmove"));
}

TEST(GoFunctions, TellWhoseRulesAFunctionFollows) {
  ElfBuilder builder;
  builder.add_function("main.fib.abi0", kStart, 0x40);
  builder.add_function("of_c", kStart + 0x100, 0x40);
  const ElfFile file = file_with(seed("go_1_20"), builder);
  std::vector<GoCode> codes;
  for (const Function& one : file.functions()) codes.push_back(go_code_of(file, one));
  EXPECT_THAT(codes,
              ElementsAre(GoCode::wrapper, GoCode::compiled, GoCode::assembly, GoCode::none));
  const ElfFile unknown = file_with(seed("go_1_16"), builder);
  EXPECT_EQ(go_code_of(unknown, unknown.functions()[0]), GoCode::unknown);
  EXPECT_THAT(why_go_is_unknown(unknown), HasSubstr("0xfffffffa"));
}

}  // namespace
}  // namespace tracectl
