// SPDX-License-Identifier: BSD-2-Clause
#include "client/options/size.h"

#include <gtest/gtest.h>

using namespace tracectl;

TEST(Size, IsReadWithItsUnit) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("123"), 123u);
  EXPECT_EQ(parse_size("500K"), 512'000u);
  EXPECT_EQ(parse_size("64M"), 67'108'864u);
  EXPECT_EQ(parse_size("3G"), 3'221'225'472u);
  EXPECT_EQ(parse_size("17179869183G"), 18'446'744'072'635'809'792u);
}

TEST(Size, IsNothingElse) {
  for (const char* text : {"", "M", "-1", "+1", " 1", "1 M", "1.5M", "1MB", "64m", "0x10", "1T",
                           "18446744073709551616", "17179869184G"})
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
}

TEST(Size, ThatIsTooLittleIsRefusedWithTheLeast) {
  EXPECT_EQ(check_size("1M", 1 << 20), "");
  EXPECT_EQ(check_size("1023K", 1 << 20), "1023K is too little: 1.0 MiB at least");
  EXPECT_EQ(check_size("10s", 1 << 20), "a size is wanted, as 500K, 64M or 1G, not 10s");
}
