// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/debug_file_door.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace tracectl {
namespace {

namespace fs = std::filesystem;

// An object and a debug file for it, beside it or in .debug, with the same owner.
class DebugFileDoor : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "debug-file-door-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directory(folder_ + "/.debug");
    for (const char* file : {"/object", "/beside.debug", "/.debug/object.debug"})
      ASSERT_TRUE(Fd{::open((folder_ + file).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)});
  }
  void TearDown() override { fs::remove_all(folder_); }

  void set_mode(const std::string& file, mode_t mode) {
    ASSERT_EQ(::chmod((folder_ + file).c_str(), mode), 0);
  }
  // A program in one folder, and a unit of it in another.
  void make_split_unit() {
    for (const char* folder : {"/bin", "/obj", "/obj/deep"}) fs::create_directory(folder_ + folder);
    for (const char* file : {"/bin/object", "/obj/deep/unit.dwo", "/obj/deep/unit.debug"})
      ASSERT_TRUE(Fd{::open((folder_ + file).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)});
  }
  bool opens(const std::string& file, const std::string& of = "/object") {
    const std::string object = folder_ + of;
    const Fd fd{::open(object.c_str(), O_PATH | O_CLOEXEC)};
    return static_cast<bool>(open_debug_file(folder_ + file, object, fd.get()));
  }

  std::string folder_;
};

TEST_F(DebugFileDoor, OpensWhatAnybodyMayRead) {
  set_mode("/object", 0755);
  set_mode("/beside.debug", 0644);
  EXPECT_TRUE(opens("/beside.debug"));
}

TEST_F(DebugFileDoor, OpensWhatIsAsPrivateAsTheObject) {
  for (const mode_t mode : {0700, 0750}) {
    set_mode("/object", mode);
    set_mode("/beside.debug", mode & 0666);
    EXPECT_TRUE(opens("/beside.debug")) << mode;
  }
}

TEST_F(DebugFileDoor, OpensNothingThatNotAllReadersOfTheObjectMayRead) {
  set_mode("/object", 0755);
  for (const mode_t mode : {0600, 0640}) {
    set_mode("/beside.debug", mode);
    EXPECT_FALSE(opens("/beside.debug")) << mode;
  }
  set_mode("/object", 0750);
  EXPECT_TRUE(opens("/beside.debug"));
}

TEST_F(DebugFileDoor, OpensNothingThatIsAnothersAndPrivate) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  set_mode("/object", 0700);
  ASSERT_EQ(::chown((folder_ + "/beside.debug").c_str(), ::geteuid(), 12345), 0);
  EXPECT_FALSE(opens("/beside.debug"));
  set_mode("/beside.debug", 0644);
  EXPECT_TRUE(opens("/beside.debug"));
}

TEST_F(DebugFileDoor, OpensNothingInADirectoryThatNotAllReadersOfTheObjectMaySearch) {
  set_mode("/.debug/object.debug", 0644);
  set_mode("/object", 0755);
  set_mode("/.debug", 0700);
  EXPECT_FALSE(opens("/.debug/object.debug"));
  set_mode("/.debug", 0711);
  EXPECT_TRUE(opens("/.debug/object.debug"));
  set_mode("/object", 0700);
  set_mode("/.debug", 0700);
  EXPECT_TRUE(opens("/.debug/object.debug"));
}

TEST_F(DebugFileDoor, OpensSplitUnitsBelowADirectoryThatIsAboveTheObject) {
  make_split_unit();
  set_mode("/bin/object", 0755);
  set_mode("/obj/deep/unit.dwo", 0644);
  set_mode("/obj/deep/unit.debug", 0644);
  set_mode("/obj", 0755);
  set_mode("/obj/deep", 0755);
  EXPECT_TRUE(opens("/obj/deep/unit.dwo", "/bin/object"));
  EXPECT_FALSE(opens("/obj/deep/unit.debug", "/bin/object"));
  set_mode("/obj/deep/unit.dwo", 0640);
  EXPECT_FALSE(opens("/obj/deep/unit.dwo", "/bin/object"));
  set_mode("/obj/deep/unit.dwo", 0644);
  set_mode("/obj", 0700);
  EXPECT_FALSE(opens("/obj/deep/unit.dwo", "/bin/object"));
  set_mode("/bin/object", 0700);
  EXPECT_TRUE(opens("/obj/deep/unit.dwo", "/bin/object"));
}

TEST_F(DebugFileDoor, FollowsNoLinkToASplitUnit) {
  make_split_unit();
  fs::create_symlink("deep", folder_ + "/obj/link");
  fs::create_symlink("unit.debug", folder_ + "/obj/deep/link.dwo");
  for (const char* path : {"/obj/link/unit.dwo", "/obj/deep/link.dwo", "/obj/../obj/deep/unit.dwo"})
    EXPECT_FALSE(opens(path, "/bin/object")) << path;
}

TEST_F(DebugFileDoor, OpensSplitUnitsOfTheObjectsOwnerOnly) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  make_split_unit();
  set_mode("/obj/deep/unit.dwo", 0644);
  EXPECT_TRUE(opens("/obj/deep/unit.dwo", "/bin/object"));
  ASSERT_EQ(::chown((folder_ + "/obj/deep/unit.dwo").c_str(), 12345, ::getegid()), 0);
  EXPECT_FALSE(opens("/obj/deep/unit.dwo", "/bin/object"));
}

TEST_F(DebugFileDoor, EntersNoOtherFileSystemForASplitUnit) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root mounts";
  make_split_unit();
  const std::string mounted = folder_ + "/obj/mounted";
  fs::create_directory(mounted);
  ASSERT_EQ(::mount("none", mounted.c_str(), "tmpfs", 0, nullptr), 0);
  ASSERT_TRUE(Fd{::open((mounted + "/unit.dwo").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644)});
  EXPECT_FALSE(opens("/obj/mounted/unit.dwo", "/bin/object"));
  ASSERT_EQ(::umount2(mounted.c_str(), MNT_DETACH), 0);
}

TEST_F(DebugFileDoor, OpensNothingElsewhere) {
  EXPECT_FALSE(opens("/../object"));
  EXPECT_FALSE(opens("/.debug/further/object.debug"));
  EXPECT_FALSE(opens("/missing"));
}

}  // namespace
}  // namespace tracectl
