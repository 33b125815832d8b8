// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/path_lookup.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

namespace tracectl {
namespace {

namespace fs = std::filesystem;

constexpr Owner kStranger{.uid = 4001, .gid = 4001};

// A child that waits in another root until it is ended.
class Confined {
 public:
  explicit Confined(const std::string& root) {
    int ready[2];
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    const Fd reads{ready[0]};
    Fd writes{ready[1]};
    pid_ = ::fork();
    if (pid_ == 0) {
      if (::chroot(root.c_str()) == 0) (void)!::write(writes.get(), "!", 1);
      writes.reset();
      for (;;) ::pause();
    }
    writes.reset();
    char said = 0;
    EXPECT_EQ(::read(reads.get(), &said, 1), 1);
  }
  ~Confined() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

class PathLookups : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "lookup-XXXXXX";
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder_ = fs::canonical(name);
    fs::permissions(folder_, fs::perms(0755));
    fs::create_directories(folder_ / "usr/bin");
    std::ofstream(folder_ / "usr/bin/x") << "x";
    fs::create_directory_symlink("usr/bin", folder_ / "bin");
  }
  void TearDown() override { fs::remove_all(folder_); }

  // The path, seen from the folder, of the file that is found; empty if none is.
  std::string found(const std::string& path, const Owner* user = nullptr, pid_t pid = ::getpid()) {
    const auto process = Process::open(pid);
    EXPECT_TRUE(process);
    const Fd file = PathLookup(*process, user).find(path);
    if (!file) return {};
    return fs::relative(fs::read_symlink("/proc/self/fd/" + std::to_string(file.get())), folder_);
  }
  std::string here(const std::string& path) const { return folder_ / path; }

  fs::path folder_;
};

TEST_F(PathLookups, FollowLinksToTheFile) {
  fs::create_symlink("bin/../bin/./x", folder_ / "relative");
  fs::create_symlink(here("relative"), folder_ / "absolute");
  for (const char* path : {"usr/bin/x", "bin/x", "bin//x", "relative", "absolute"})
    EXPECT_EQ(found(here(path)), "usr/bin/x") << path;
  EXPECT_EQ(found(here("bin/y")), "");
  EXPECT_EQ(found(here("usr/bin/x/y")), "");
}

TEST_F(PathLookups, FollowLinksOfProcForNoUser) {
  const auto self = Process::open(::getpid());
  ASSERT_TRUE(self);
  const std::string link = "/proc/" + std::to_string(::getpid()) + "/exe";
  const Fd executable{::open(link.c_str(), O_PATH | O_CLOEXEC)};
  EXPECT_TRUE(is_same_file(PathLookup(*self, nullptr).find(link), executable));
  EXPECT_FALSE(PathLookup(*self, &kStranger).find(link));
}

TEST_F(PathLookups, EndInACircle) {
  fs::create_symlink("circle", folder_ / "circle");
  EXPECT_EQ(found(here("circle")), "");
}

TEST_F(PathLookups, StayInTheRootOfTheProcess) {
  fs::create_symlink("/usr/bin/x", folder_ / "link");
  fs::create_symlink("../../../../../usr/bin/x", folder_ / "above");
  const Confined other(folder_);
  for (const char* path : {"/bin/x", "/link", "/above", "/../usr/bin/x"})
    EXPECT_EQ(found(path, nullptr, other.pid()), "usr/bin/x") << path;
  EXPECT_EQ(found(here("usr/bin/x"), nullptr, other.pid()), "");
}

TEST_F(PathLookups, AreThoseThatTheUserCouldMake) {
  EXPECT_EQ(found(here("bin/x"), &kStranger), "usr/bin/x");
  fs::permissions(folder_ / "usr", fs::perms(0750));
  EXPECT_EQ(found(here("bin/x"), &kStranger), "");
  EXPECT_EQ(found(here("bin/x")), "usr/bin/x");
}

TEST_F(PathLookups, TellWhichMappedFileIsMeant) {
  const auto process = Process::open(::getpid());
  struct stat status {};
  ASSERT_EQ(::stat(here("usr/bin/x").c_str(), &status), 0);
  const Fd file = PathLookup(*process, nullptr).find(here("bin/x"));
  MappedFile mapped;
  mapped.path = here("usr/bin/x");
  mapped.device = status.st_dev;
  mapped.inode = status.st_ino;
  EXPECT_TRUE(is_mapped_as(file, mapped));
  mapped.device += 1;  // as on overlayfs
  EXPECT_TRUE(is_mapped_as(file, mapped));
  mapped.path += "y";
  EXPECT_FALSE(is_mapped_as(file, mapped));
}

}  // namespace
}  // namespace tracectl
