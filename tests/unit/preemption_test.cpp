// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/preemption.h"

#include <gtest/gtest.h>

using tracectl::preempts;

TEST(Preemption, IsWhatTheCommandLineSaysLast) {
  EXPECT_EQ(preempts("quiet preempt=none root=/dev/vda\n"), false);
  EXPECT_EQ(preempts("preempt=voluntary"), false);
  EXPECT_EQ(preempts("preempt=full"), true);
  EXPECT_EQ(preempts("preempt=none preempt=lazy"), true);
}

TEST(Preemption, IsNotSaidByOtherWords) {
  EXPECT_EQ(preempts(""), std::nullopt);
  EXPECT_EQ(preempts("quiet preempt=sometimes xpreempt=full"), std::nullopt);
  EXPECT_EQ(preempts("quiet -- preempt=full"), std::nullopt);
}
