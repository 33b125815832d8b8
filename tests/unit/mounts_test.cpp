// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/mounts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "tests/support/must.h"

namespace tracectl {
namespace {

using on_kernel::must;

constexpr std::string_view kMounts =
    "22 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "36 22 0:44 / /mnt/a\\040b rw,nosuid - fuse.sshfs host:/ rw,user_id=1000\n"
    "37 22 0:45 / /mnt/fuse rw shared:2 master:3 - fuse /dev/fuse rw\n"
    "38 22 0:46 / /mnt/o rw - overlay overlay rw,lowerdir=/ - fuse:/\n"
    "39 22 0:47 / /mnt/fusectl rw - fusectl none rw\n"
    "40 22 0:48 / cut off";

TEST(Mounts, OfFuseAreServedByAProcess) {
  const auto served = [](unsigned minor) { return served_by_process(kMounts, makedev(0, minor)); };
  EXPECT_EQ(served(44), Served::yes);
  EXPECT_EQ(served(45), Served::yes);
  EXPECT_EQ(served(46), Served::no);
  EXPECT_EQ(served(47), Served::no);
  EXPECT_EQ(served(48), Served::unknown);
  EXPECT_EQ(served(4), Served::unknown);
  EXPECT_EQ(served_by_process(kMounts, makedev(253, 0)), Served::no);
  EXPECT_EQ(served_by_process("", makedev(253, 0)), Served::unknown);
}

TEST(Mounts, FilesOfOneThatIsNowhereMayHaveToBeWaitedFor) {
  const Process self = must(Process::open(::getpid()));
  EXPECT_TRUE(may_wait_for_others(self, makedev(0, 0xfffff)));
  EXPECT_FALSE(may_wait_for_others(self, makedev(8, 1)));
}

TEST(Mounts, FilesInMemoryAndOfOneselfNeedNoWait) {
  const Process self = must(Process::open(::getpid()));
  struct stat status {};
  ASSERT_EQ(::stat("/proc/self/exe", &status), 0);
  EXPECT_FALSE(may_wait_for_others(self, status.st_dev));
  const Fd memory{::memfd_create("test", MFD_CLOEXEC)};
  ASSERT_EQ(::fstat(memory.get(), &status), 0);
  EXPECT_FALSE(may_wait_for_others(self, status.st_dev));
}

}  // namespace
}  // namespace tracectl
