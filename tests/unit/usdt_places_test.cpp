// SPDX-License-Identifier: BSD-2-Clause
//
// The place of a probe of <tracectl/usdt.h> in a compiled program, by what the kernel makes of nops.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/base/fd.h"
#include "daemon/object/probes.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

using namespace tracectl;
using on_kernel::must;

namespace {

class UsdtPlaces : public testing::Test {
 protected:
  static ProbeMatch found(const char* name, const SiteCosts& costs) {
    const std::string path = on_kernel::target_path("hot_usdt");
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    const auto object = must(ObjectFile::open(file.get(), path));
    return must(find_probes(object, must(parse_pattern("usdt:" + path + ":hot:" + name)), {},
                            nullptr, costs));
  }
  static Site site_of(const char* name, const SiteCosts& costs) {
    const ProbeMatch match = found(name, costs);
    EXPECT_EQ(match.probes.size(), 1u);
    EXPECT_EQ(match.probes.at(0).sites.size(), 1u);
    return match.probes.at(0).sites.at(0);
  }
};

TEST_F(UsdtPlaces, AreTheCheapestNop) {
  const uint64_t start = site_of("header", {CostClass::slow, std::nullopt}).offset;
  const auto place = [&](const SiteCosts& costs) {
    const Site site = site_of("header", costs);
    EXPECT_EQ(site.offset - start, site.moved_bytes);
    return std::tuple{site.moved_bytes, site.cost, site.nop5};
  };
  EXPECT_EQ(place({CostClass::slow, std::nullopt}), (std::tuple{0u, CostClass::normal, false}));
  EXPECT_EQ(place({CostClass::normal, std::nullopt}), (std::tuple{0u, CostClass::normal, false}));
  EXPECT_EQ(place({CostClass::fast, std::nullopt}), (std::tuple{11u, CostClass::fast, true}));
  EXPECT_EQ(place({CostClass::normal, CostClass::fast}), (std::tuple{1u, CostClass::fast, false}));
}

TEST_F(UsdtPlaces, OfAProbeOfSdtHDependOnNoKernel) {
  for (const SiteCosts& costs : {SiteCosts{}, SiteCosts{CostClass::slow, std::nullopt}}) {
    EXPECT_EQ(site_of("sdt", costs).moved_bytes, 0u);
    EXPECT_FALSE(found("sdt", costs).depends_on_nops);
  }
  EXPECT_TRUE(found("header", {}).depends_on_nops);
}

}  // namespace
