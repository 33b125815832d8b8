// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "client/render/call_names.h"

using namespace tracectl;

TEST(CallNames, AreThoseOfTheSourceWithoutTheirFiles) {
  CallNames names;
  EXPECT_EQ(names.of("uprobe:/usr/bin/prog:query"), "query");
  EXPECT_EQ(names.of("uprobe:/usr/bin/prog:query+8"), "query+8");
  EXPECT_EQ(names.of("uprobe:/usr/bin/prog:_ZN2ns5queryEi"), "ns::query");
  EXPECT_EQ(names.of("usdt:/usr/bin/prog:db:row"), "db:row");
  EXPECT_EQ(names.of("what is this"), "what is this");
}

TEST(CallNames, HoldNothingThatATerminalObeys) {
  CallNames names;
  EXPECT_EQ(names.of("uprobe:/usr/bin/prog:a\x1b[2J"), "uprobe:/usr/bin/prog:a?[2J");
  EXPECT_EQ(printable("\x01\x7f\xc2\x9b\xc3\xa9"), "??\xc2?\xc3\xa9");
}
