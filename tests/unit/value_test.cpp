// SPDX-License-Identifier: BSD-2-Clause
//
// How values are shown.
#include "daemon/model/value.h"

#include <gtest/gtest.h>

namespace tracectl {
namespace {

Member member(const char* name, unsigned first_bit, unsigned bit_count, bool is_signed = false) {
  Member member{.name = name};
  member.type.place = Argument::Place::in_register;
  member.type.is_signed = is_signed;
  member.first_bit = static_cast<uint8_t>(first_bit);
  member.bit_count = static_cast<uint8_t>(bit_count);
  return member;
}

TEST(MembersText, TakesTheBitsOfEachMemberFromItsRegister) {
  const ResultRegisters registers{0xfedc'ba98'7654'3210, 0x8000'0000'0000'0001};
  EXPECT_EQ(members_text({member("a", 0, 64), member("b", 64, 64)}, registers),
            "{a = 18364758544493064720, b = 9223372036854775809}");
  EXPECT_EQ(
      members_text({member("low", 4, 4), member("high", 60, 4), member("last", 127, 1)}, registers),
      "{low = 1, high = 15, last = 1}");
  EXPECT_EQ(members_text({member("n", 60, 4, true), member("m", 64, 1, true)}, registers),
            "{n = -1, m = -1}");
}

TEST(MembersText, HasNoValueOfAMemberThatIsInNoRegister) {
  Member elsewhere{.name = "x"};
  EXPECT_EQ(members_text({elsewhere, member("n", 64, 8)}, {1, 2}), "{x = ?, n = 2}");
  EXPECT_EQ(members_text({}, {1, 2}), "{}");
}

TEST(MembersText, DoesNotReadBeyondTheRegisters) {
  EXPECT_EQ(members_text(
                {member("a", 128, 8), member("b", 60, 8), member("c", 0, 0), member("d", 255, 255)},
                {1, 2}),
            "{a = ?, b = ?, c = ?, d = ?}");
}

}  // namespace
}  // namespace tracectl
