// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/finding/shared_sites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace tracectl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SharedSitesTest : public testing::Test {
 protected:
  const Probe& probe(const std::string& name, const std::vector<uint64_t>& offsets = {0x10}) {
    Probe& made = probes_.emplace_back();
    made.name = name;
    for (const uint64_t offset : offsets) made.sites.emplace_back().offset = offset;
    return made;
  }
  static Want want(const WantedPart& part, const Probe& probe) {
    return {.part = &part, .probe = &probe, .site = &probe.sites.front()};
  }
  std::vector<std::string> joined(Wants wants) {
    shared_.join(wants);
    std::vector<std::string> names;
    for (const Want& one : wants) names.push_back(one.probe->name);
    return names;
  }

  std::deque<Probe> probes_;
  WantedPart first_, second_;
  SharedSites shared_;
};

// Each of them counts.
TEST_F(SharedSitesTest, LinesAtOneAddressAreSeveralProbes) {
  EXPECT_THAT(
      joined({want(first_, probe("uprobe:/l:f@a.c:1")), want(first_, probe("uprobe:/l:f@a.c:2"))}),
      ElementsAre("uprobe:/l:f@a.c:1", "uprobe:/l:f@a.c:2"));
  EXPECT_THAT(shared_.notes(), IsEmpty());
}

TEST_F(SharedSitesTest, TheNameWithoutUnderscoresIsKept) {
  EXPECT_THAT(
      joined({want(first_, probe("uprobe:/l:__libc_read")),
              want(first_, probe("uprobe:/l:reading")), want(first_, probe("uprobe:/l:read"))}),
      ElementsAre("uprobe:/l:read"));
  EXPECT_THAT(shared_.notes(), ElementsAre("functions with the same address are one probe: "
                                           "__libc_read as read, reading as read"));
}

TEST_F(SharedSitesTest, NamesThatOtherSettingsChooseStay) {
  EXPECT_THAT(joined({want(first_, probe("uprobe:/l:a")), want(second_, probe("uprobe:/l:b"))}),
              ElementsAre("uprobe:/l:a", "uprobe:/l:b"));
  const Probe& a = probe("uprobe:/l:a");
  EXPECT_THAT(joined({want(first_, a), want(second_, a), want(first_, probe("uprobe:/l:b"))}),
              ElementsAre("uprobe:/l:a", "uprobe:/l:a", "uprobe:/l:b"));
  EXPECT_THAT(shared_.notes(), IsEmpty());
}

TEST_F(SharedSitesTest, ProbesThatShareOneOfTheirSitesStay) {
  EXPECT_THAT(joined({want(first_, probe("uprobe:/l:memcpy", {0x10, 0x20})),
                      want(first_, probe("uprobe:/l:memmove", {0x10, 0x20, 0x30}))}),
              ElementsAre("uprobe:/l:memcpy", "uprobe:/l:memmove"));
}

TEST_F(SharedSitesTest, ProbesInTheSourceStay) {
  EXPECT_THAT(joined({want(first_, probe("usdt:/l:p:a")), want(first_, probe("usdt:/l:p:b"))}),
              ElementsAre("usdt:/l:p:a", "usdt:/l:p:b"));
}

TEST_F(SharedSitesTest, ANoteNamesTheFirstFew) {
  Wants wants;
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    wants.push_back(want(first_, probe("uprobe:/l:" + std::string(name))));
  EXPECT_THAT(joined(std::move(wants)), ElementsAre("uprobe:/l:a"));
  EXPECT_THAT(shared_.notes(), ElementsAre("functions with the same address are one probe: "
                                           "b as a, c as a, d as a and 2 more"));
}

}  // namespace
}  // namespace tracectl
