// SPDX-License-Identifier: BSD-2-Clause
#include "client/options/recorder_bound.h"

#include <gtest/gtest.h>

#include "client/render/recorder.h"

using namespace tracectl;

TEST(RecorderBound, IsASizeOrATimeOrBoth) {
  const auto read = [](const char* text) { return *parse_recorder_bound(text); };
  EXPECT_EQ(read("64M").bytes, 64u << 20);
  EXPECT_EQ(read("64M").seconds, std::nullopt);
  EXPECT_EQ(read("10s").seconds, 10.0);
  EXPECT_EQ(read("10s").bytes, std::nullopt);
  EXPECT_EQ(read("10m").seconds, 600.0);
  for (const char* both : {"1G,500ms", "500ms,1G"}) {
    EXPECT_EQ(read(both).bytes, 1u << 30);
    EXPECT_EQ(read(both).seconds, 0.5);
  }
}

TEST(RecorderBound, IsNothingElse) {
  for (const char* text : {"", "10", "64m5", "M", "1M,2M", "1s,2s", "1M,", ",1M", "1M,2s,3s", "x"})
    EXPECT_NE(check_recorder_bound(text), "") << text;
}

TEST(RecorderBound, IsShownAsItWasGiven) {
  EXPECT_EQ(recorder_bound_text({.bytes = 64 << 20}), "64.0 MiB");
  EXPECT_EQ(recorder_bound_text({.seconds = 0.5}), "0.5 s");
  EXPECT_EQ(recorder_bound_text({.bytes = 1 << 20, .seconds = 600}), "1.0 MiB, 600 s");
}

TEST(DumpOn, IsACrashOrUnits) {
  const auto on = parse_dump_on({"failed:nginx", "crash", "failed:a@b:c.service"});
  ASSERT_TRUE(on);
  EXPECT_TRUE(on->crash);
  EXPECT_EQ(on->failed_units, (std::vector<std::string>{"nginx", "a@b:c.service"}));
  EXPECT_FALSE(parse_dump_on({"failed:nginx"})->crash);
  for (const char* cause : {"", "crashes", "failed", "failed:", "Failed:nginx", "crash:1"})
    EXPECT_NE(check_dump_on(cause), "") << cause;
}

TEST(DumpOn, IsASignalByItsNameOrNumber) {
  const auto on = parse_dump_on({"signal:TERM", "signal:SIGSEGV", "signal:64"});
  ASSERT_TRUE(on);
  EXPECT_EQ(on->signals.value(), (std::vector<int64_t>{15, 11, 64}));
  EXPECT_FALSE(on->crash);
  for (const char* cause : {"signal:", "signal:0", "signal:65", "signal:term", "signal:NONE"})
    EXPECT_NE(check_dump_on(cause), "") << cause;
}

TEST(DumpOn, IsAnExitThatIsNoSuccess) {
  const auto on = parse_dump_on({"exit:1", "exit:255"});
  ASSERT_TRUE(on);
  EXPECT_EQ(on->exit_statuses.value(), (std::vector<int64_t>{1, 255}));
  for (const char* cause : {"exit:", "exit:0", "exit:256", "exit:-1", "exit:1x"})
    EXPECT_NE(check_dump_on(cause), "") << cause;
}
