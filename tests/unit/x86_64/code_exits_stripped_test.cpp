// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/object/code/exits.h"
#include "daemon/object/elf_file.h"
#include "daemon/object/unwind_ranges.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

// The unwind table adds gcc's .cold parts whose symbols are stripped.
namespace tracectl {
namespace {

class StrippedCode {
 public:
  explicit StrippedCode(const std::string& path)
      : file_(on_kernel::must(
            ElfFile::open(Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}.get(), path, "/none"))),
        ranges_(file_) {
    for (const Function& function : file_.functions())
      (is_part(function) ? parts_ : starts_).insert(function.address);
  }

  static bool is_part(const Function& function) {
    return function.name.find(".cold") != std::string::npos;
  }

  const std::vector<Function>& functions() const { return file_.functions(); }
  bool names_parts() const { return !parts_.empty(); }

  CodeRange read(uint64_t address, uint64_t size) {
    const auto offset = file_.offset_of(address);
    bytes_.push_back(on_kernel::must(file_.read_at_most(offset.value(), size)));
    return {address, bytes_.back()};
  }

  Surroundings without_parts() {
    return {.read =
                [this](uint64_t address, std::span<uint8_t> into) {
                  const auto offset = file_.offset_of(address);
                  const auto bytes = offset ? file_.read_at_most(*offset, into.size()) : Error{};
                  if (!bytes) return size_t{0};
                  std::ranges::copy(*bytes, into.begin());
                  return bytes->size();
                },
            .is_function = [this](uint64_t address) { return starts_.contains(address); }};
  }

  Surroundings with_parts() {
    Surroundings surroundings = without_parts();
    surroundings.part_at = [this](uint64_t address) -> std::optional<CodeRange> {
      const auto range = ranges_.range_at(address);
      if (!range) return std::nullopt;
      return read(range->address, range->size);
    };
    return surroundings;
  }

 private:
  ElfFile file_;
  UnwindRanges ranges_;
  std::set<uint64_t> starts_, parts_;
  std::list<std::vector<uint8_t>> bytes_;
};

TEST(ExitsWithoutSymbols, AreThoseWithThem) {
  StrippedCode code(on_kernel::target_path("cold_parts"));
  std::map<std::string, CodeRange> functions;
  for (const Function& function : code.functions())
    if (function.size != 0)
      functions.emplace(function.name, code.read(function.address, function.size));
  for (const std::string name : {"warns", "ends", "throws"}) {
    const FunctionCode alone{.body = functions.at(name), .extent = Extent::whole};
    FunctionCode whole = alone;
    whole.others = {&functions.at(name + ".cold"), 1};
    const auto expected = on_kernel::must(find_exits(whole, code.without_parts()));
    EXPECT_FALSE(expected.empty()) << name;
    EXPECT_EQ(on_kernel::must(find_exits(alone, code.with_parts())), expected) << name;
    EXPECT_FALSE(find_exits(alone, code.without_parts())) << name;
  }
}

struct Counts {
  size_t functions = 0, without = 0, with = 0, lost = 0;
};

Counts count(StrippedCode& code) {
  Counts counts;
  std::set<uint64_t> done;
  for (const Function& function : code.functions()) {
    if (function.size == 0 || !done.insert(function.address).second) continue;
    const FunctionCode alone{.body = code.read(function.address, function.size),
                             .extent = Extent::whole};
    const bool without = find_exits(alone, code.without_parts()).has_value();
    const bool with = find_exits(alone, code.with_parts()).has_value();
    ++counts.functions;
    counts.without += without;
    counts.with += with;
    counts.lost += without && !with;
  }
  return counts;
}

class ExitsOfStripped : public testing::TestWithParam<const char*> {};

TEST_P(ExitsOfStripped, AreKnownForMoreFunctionsByTheUnwindTable) {
  const std::string path = on_kernel::installed_path(GetParam());
  StrippedCode code(path);
  ASSERT_FALSE(code.names_parts()) << path << " is not stripped";
  const Counts counts = count(code);
  std::printf("%s: %zu functions, exits known of %zu, with the unwind table of %zu\n", path.c_str(),
              counts.functions, counts.without, counts.with);
  EXPECT_GT(counts.with, counts.without);
  EXPECT_EQ(counts.lost, 0u);
  EXPECT_LT((counts.functions - counts.with) * 20, counts.functions);  // 5 %
}

INSTANTIATE_TEST_SUITE_P(Code, ExitsOfStripped,
                         testing::Values("/usr/bin/python3",
                                         "/usr/lib/x86_64-linux-gnu/libruby-3.?.so.3.?",
                                         "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"));

}  // namespace
}  // namespace tracectl
