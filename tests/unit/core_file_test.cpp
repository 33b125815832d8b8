// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/core_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

using namespace tracectl;

namespace {

const ProcessEnd kCrash{.ts_ns = 1,
                        .pid = 70,
                        .own_pid = 7,
                        .initial_pid = 700,
                        .uid = 1000,
                        .gid = 100,
                        .name = "prog",
                        .signal = 11,
                        .has_core = true};

std::string place(const std::string& pattern, bool uses_pid = false) {
  return core_text({pattern, uses_pid}, kCrash);
}

}  // namespace

TEST(CoreFile, IsNamedAsThePatternSays) {
  EXPECT_EQ(place("/cores/%p"), "its core is /cores/7");
  EXPECT_EQ(place("/cores/%P-%s-%u-%g"), "its core is /cores/700-11-1000-100");
  EXPECT_EQ(place("/cores/100%%"), "its core is /cores/100%");
  EXPECT_EQ(place("/cores/a%"), "its core is /cores/a");
}

TEST(CoreFile, HasTheNameOfTheMachine) {
  char name[256] = "";
  ASSERT_EQ(::gethostname(name, sizeof(name) - 1), 0);
  EXPECT_EQ(place("/%h"), "its core is /" + std::string(name));
}

TEST(CoreFile, IsWhereTheProcessWorkedUnlessThePatternSaysWhere) {
  EXPECT_EQ(place("core"), "its core is core in its working directory");
}

TEST(CoreFile, OfWhichNobodyKnowsTheWholeNameIsAPattern) {
  EXPECT_EQ(place("/cores/%e.%t.%p"), "its core is /cores/*.*.7");
}

TEST(CoreFile, HasTheNumberBehindItWhereTheKernelIsToldSo) {
  EXPECT_EQ(place("/core", true), "its core is /core.7");
  EXPECT_EQ(place("/core.%p", true), "its core is /core.7");
  EXPECT_EQ(place("/core.%P", true), "its core is /core.700.7");
}

TEST(CoreFile, IsHandedToAProgram) {
  EXPECT_EQ(place("|/usr/share/apport/apport -p%p"),
            "its core was handed to /usr/share/apport/apport");
  EXPECT_EQ(place("| /bin/x"), "its core was handed to /bin/x");
  EXPECT_EQ(place("|/lib/systemd/systemd-coredump %P %u", true),
            "its core was handed to /lib/systemd/systemd-coredump: coredumpctl info 70");
  EXPECT_EQ(place("|"), "its core was handed to ");
}

TEST(CoreFile, IsSentToASocket) {
  EXPECT_EQ(place("@/run/cores"), "its core was sent to the socket /run/cores");
}

TEST(CoreFile, IsMissing) {
  ProcessEnd end = kCrash;
  end.has_core = false;
  EXPECT_EQ(core_text({"|/bin/x", true}, end), "it left no core");
}

TEST(CoreFile, IsNamedWithWhoHasLeftIt) {
  EXPECT_EQ(text({"core", true}, kCrash),
            "process 70 (prog) was killed by SIGSEGV; its core is core.7 in its working directory");
  ProcessEnd end = kCrash;
  end.signal = 63;
  EXPECT_EQ(text({"/c", false}, end), "process 70 (prog) was killed by signal 63; its core is /c");
}

TEST(CoreFile, IsNotSpokenOfWhereAProcessHasExited) {
  ProcessEnd end = kCrash;
  end.signal = 0;
  end.status = 3;
  EXPECT_EQ(text({"core", true}, end), "process 70 (prog) has exited with status 3");
}
