// SPDX-License-Identifier: BSD-2-Clause
//
// Every fuzz target gets the seeds that are kept for it. `make check` has no time to fuzz; this shows that the targets
// still accept their seeds, and that nothing that was once found comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// The build writes a line FUZZ_TARGET(name) for each source tests/fuzz/name.cpp.
#define FUZZ_TARGET(name) extern "C" int name(const uint8_t* data, size_t size);
#include "seeds/targets.inc"
#undef FUZZ_TARGET

namespace tracectl::fuzz {
namespace {

struct FuzzTarget {
  const char* name;
  int (*run)(const uint8_t* data, size_t size);
};

const FuzzTarget kTargets[] = {
#define FUZZ_TARGET(name) {#name, name},
#include "seeds/targets.inc"
#undef FUZZ_TARGET
};

namespace fs = std::filesystem;

fs::path seeds_of(const std::string& target) {
  return fs::path("tests/fuzz/corpus") / target.substr(0, target.rfind("_fuzz"));
}

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void run(const FuzzTarget& target, const std::string& input) {
  EXPECT_EQ(target.run(reinterpret_cast<const uint8_t*>(input.data()), input.size()), 0);
}

class FuzzSeeds : public testing::TestWithParam<FuzzTarget> {};

TEST_P(FuzzSeeds, AreAccepted) {
  run(GetParam(), "");
  const fs::path folder = seeds_of(GetParam().name);
  ASSERT_TRUE(fs::exists(folder)) << "no seeds are kept for " << GetParam().name;
  for (const auto& seed : fs::directory_iterator(folder)) {
    SCOPED_TRACE(seed.path());
    run(GetParam(), contents(seed.path()));
  }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzSeeds, testing::ValuesIn(kTargets),
                         [](const auto& one) { return std::string(one.param.name); });

// A folder with another name would be run by nobody.
TEST(FuzzSeedFolders, AreThoseOfTargets) {
  std::vector<std::string> unknown;
  for (const auto& folder : fs::directory_iterator("tests/fuzz/corpus")) {
    const auto is_its = [&](const FuzzTarget& target) {
      return seeds_of(target.name) == folder.path();
    };
    if (std::none_of(std::begin(kTargets), std::end(kTargets), is_its))
      unknown.push_back(folder.path());
  }
  EXPECT_EQ(unknown, std::vector<std::string>{});
}

}  // namespace
}  // namespace tracectl::fuzz
