// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/emulated_places.h"

#include <gtest/gtest.h>

#include <array>

namespace tracectl {
namespace {

class EmulatedPlacesTest : public testing::Test {
 protected:
  static EmulatedPlace place(pid_t filter, uint64_t offset = 0x100) { return {1, offset, filter}; }
  EmulatedPlaces::Held add(pid_t filter, uint64_t offset = 0x100) {
    return places.add(place(filter, offset), tc_instruction{});
  }
  bool is_active(const EmulatedPlaces::Held& held) const {
    return held.number && table[*held.number].is_active;
  }

  std::array<tc_instruction, 3> table{};
  EmulatedPlaces places{table};
};

TEST_F(EmulatedPlacesTest, OnlyTheOldestForAProcessIsActive) {
  const auto first = add(10), newer = add(10);
  EXPECT_TRUE(is_active(first));
  EXPECT_FALSE(is_active(newer));
  places.remove(place(10), first);
  EXPECT_TRUE(is_active(newer));
}

TEST_F(EmulatedPlacesTest, OneForAllProcessesMayBeForEach) {
  const auto of_one = add(10), of_all = add(0), of_another = add(11);
  EXPECT_TRUE(is_active(of_one));
  EXPECT_FALSE(is_active(of_all));
  EXPECT_FALSE(is_active(of_another));
  places.remove(place(0), of_all);
  EXPECT_TRUE(is_active(of_another));
}

TEST_F(EmulatedPlacesTest, OfOtherProcessesAndOffsetsAreActiveBesideEachOther) {
  EXPECT_TRUE(is_active(add(10)));
  EXPECT_TRUE(is_active(add(11)));
  EXPECT_TRUE(is_active(add(10, 0x200)));
}

// Its programs want to see the registers before the instruction, too.
TEST_F(EmulatedPlacesTest, BehindOneThatIsSteppedNoneIsActive) {
  const auto stepped = places.add(place(10), std::nullopt);
  const auto newer = add(10);
  EXPECT_FALSE(is_active(newer));
  places.remove(place(10), stepped);
  EXPECT_TRUE(is_active(newer));
}

TEST_F(EmulatedPlacesTest, OfAFileThatIsLeftToTheKernelNoneIsActive) {
  const auto before = add(10);
  places.leave_to_kernel(1);
  places.leave_to_kernel(1);
  const auto newer = add(11);
  EXPECT_TRUE(is_active(before));
  EXPECT_FALSE(is_active(newer));
  const auto other = places.add({2, 0x100, 11}, tc_instruction{});
  EXPECT_TRUE(is_active(other));
  places.give_back(1);
  EXPECT_FALSE(is_active(newer));
  places.give_back(1);
  EXPECT_TRUE(is_active(newer));
}

// The program may still run for a place that was just given up.
TEST_F(EmulatedPlacesTest, NumbersAreGivenAgainAsLateAsCanBe) {
  const auto first = add(10);
  places.remove(place(10), first);
  EXPECT_FALSE(is_active(first));
  EXPECT_NE(add(10).number, first.number);
}

TEST_F(EmulatedPlacesTest, WithoutRoomAreStepped) {
  const auto first = add(1);
  add(2);
  add(3);
  const auto fourth = add(4);
  EXPECT_FALSE(fourth.number);
  places.remove(place(4), fourth);
  places.remove(place(1), first);
  EXPECT_TRUE(is_active(add(5)));
}

}  // namespace
}  // namespace tracectl
