// SPDX-License-Identifier: BSD-2-Clause
//
// The folder for dumps that are made automatically.
#include "daemon/control/dump_folder.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

using namespace tracectl;

namespace {

class DumpFolderTest : public ::testing::Test {
 protected:
  DumpFolderTest() {
    char name[] = "/tmp/dumps-XXXXXX";
    root_ = ::mkdtemp(name);
  }
  ~DumpFolderTest() override { std::filesystem::remove_all(root_); }

  std::string path() const { return root_ / "some" / "dumps"; }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      names.insert(entry.path().filename());
    return names;
  }
  void put(const std::string& name) const { std::ofstream(path() + "/" + name) << "x"; }

  std::filesystem::path root_;
};

std::string refusal_of(const Result<DumpFolder::File>& made) {
  return made ? "none" : made.error().message;
}

// Opens the file as a user without rights: 0, or an errno.
int read_as(uid_t user, const std::string& path) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(user) != 0 || ::setuid(user) != 0) ::_exit(255);
    ::_exit(::open(path.c_str(), O_RDONLY) >= 0 ? 0 : errno);
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}

// Runs in a child, because it cannot get its rights back. Returns the path of the file, or nothing.
std::string made_as(uid_t daemon, const std::string& folder, uid_t user) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(daemon) != 0 || ::setuid(daemon) != 0) ::_exit(1);
    const auto made = DumpFolder(folder).make("s", user);
    const std::string said = made ? made->place.path() : made.error().message;
    ::_exit(::write(ends[1], said.data(), said.size()) < 0);
  }
  char said[512];
  const ssize_t size = ::read(ends[0], said, sizeof(said));
  ::waitpid(pid, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  return {said, static_cast<size_t>(std::max<ssize_t>(size, 0))};
}

}  // namespace

TEST_F(DumpFolderTest, MakesFilesThatOnlyTheirOwnerReads) {
  auto made = DumpFolder(path()).make("s", ::geteuid());
  ASSERT_TRUE(made) << made.error().message;
  struct stat about {};
  ASSERT_EQ(::fstat(made->file.get(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0600u);
  EXPECT_EQ(about.st_uid, ::geteuid());
  EXPECT_EQ(about.st_size, 0);
  ASSERT_EQ(::stat(path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0711u);
  EXPECT_EQ(made->place.path(), path() + "/" + *files().begin());
}

TEST_F(DumpFolderTest, ADaemonThatIsNotRootLetsTheSessionsUserReadAndNobodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root becomes other users";
  constexpr uid_t kDaemon = 12344, kUser = 12345, kOther = 12346;
  std::filesystem::permissions(root_, std::filesystem::perms(0711));
  std::filesystem::create_directory(root_ / "some");
  ASSERT_EQ(::chown((root_ / "some").c_str(), kDaemon, kDaemon), 0);
  const std::string file = made_as(kDaemon, path(), kUser);
  ASSERT_TRUE(std::filesystem::exists(file)) << file;
  EXPECT_EQ(read_as(kUser, file), 0);
  EXPECT_EQ(read_as(kOther, file), EACCES);
}

TEST_F(DumpFolderTest, GivesTheFileToTheSessionsUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  auto made = DumpFolder(path()).make("s", 12345);
  ASSERT_TRUE(made) << made.error().message;
  struct stat about {};
  ASSERT_EQ(::fstat(made->file.get(), &about), 0);
  EXPECT_EQ(about.st_uid, 12345u);
}

// Keeps those of other sessions, whatever their names, and files that are not dumps.
TEST_F(DumpFolderTest, KeepsTheLastOfEachSession) {
  const DumpFolder folder(path());
  auto first = folder.make("s", ::geteuid());
  ASSERT_TRUE(first) << first.error().message;
  first->place.remove_older();
  const std::set<std::string> others{"s-20200101T000000.000000Z-20200101T000000.000000Z.tct",
                                     "s2-20200101T000000.000000Z.tct",
                                     "s-notes.tct",
                                     "s-20200101T000000.000000Z.txt",
                                     "s-.tct",
                                     "s-"};
  for (const std::string& name : others) put(name);
  put("s-20200101T000000.000000Z.tct");
  std::set<std::string> made;
  for (size_t i = 0; i < 2 * DumpFolder::kMostFiles; ++i) {
    auto one = folder.make("s", ::geteuid());
    ASSERT_TRUE(one) << one.error().message;
    one->place.remove_older();
    made.insert(std::filesystem::path(one->place.path()).filename());
  }
  std::set<std::string> expected = others;
  auto last = made.end();
  for (size_t i = 0; i < DumpFolder::kMostFiles; ++i) expected.insert(*--last);
  EXPECT_EQ(files(), expected);
}

TEST_F(DumpFolderTest, KeepsWhatThereIsUntilMoreIsWritten) {
  const DumpFolder folder(path());
  for (size_t i = 0; i < 2 * DumpFolder::kMostFiles; ++i)
    ASSERT_TRUE(folder.make("s", ::geteuid()));
  EXPECT_EQ(files().size(), 2 * DumpFolder::kMostFiles);
}

// The clock was set back.
TEST_F(DumpFolderTest, KeepsTheLastThoughItsNameIsTheOldest) {
  auto last = DumpFolder(path()).make("s", ::geteuid());
  ASSERT_TRUE(last) << last.error().message;
  for (size_t i = 0; i < DumpFolder::kMostFiles; ++i)
    put("s-2999010" + std::to_string(i + 1) + "T000000.000000Z.tct");
  last->place.remove_older();
  EXPECT_TRUE(std::filesystem::exists(last->place.path()));
  EXPECT_FALSE(files().contains("s-29990101T000000.000000Z.tct"));
  EXPECT_EQ(files().size(), DumpFolder::kMostFiles);
}

TEST_F(DumpFolderTest, RefusesADirectoryThatOthersWrite) {
  std::filesystem::create_directories(path());
  ASSERT_EQ(::chmod(path().c_str(), 0777), 0);
  const DumpFolder folder(path());
  EXPECT_NE(refusal_of(folder.make("s", ::geteuid())).find("chmod go-w"), std::string::npos);
  EXPECT_TRUE(files().empty());
  ASSERT_EQ(::chmod(path().c_str(), 0755), 0);
  EXPECT_EQ(refusal_of(folder.make("s", ::geteuid())), "none");
}

TEST_F(DumpFolderTest, RefusesADirectoryThatOthersCouldPutAnotherInPlaceOf) {
  const auto above = root_ / "some";
  std::filesystem::create_directories(above);
  ASSERT_EQ(::chmod(above.c_str(), 0777), 0);
  const DumpFolder folder(above / "new" / "dumps");
  EXPECT_NE(refusal_of(folder.make("s", ::geteuid())).find("one above it"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(above));  // nothing is created there
  ASSERT_EQ(::chmod(above.c_str(), 01777), 0);
  EXPECT_EQ(refusal_of(folder.make("s", ::geteuid())), "none");
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chmod(above.c_str(), 0755), 0);
  ASSERT_EQ(::chown(above.c_str(), 12345, 12345), 0);
  EXPECT_NE(refusal_of(folder.make("s", 0)).find("one above it"), std::string::npos);
}

TEST_F(DumpFolderTest, FollowsNoLink) {
  std::filesystem::create_directories(root_ / "some");
  std::filesystem::create_directories(root_ / "elsewhere");
  std::filesystem::create_symlink(root_ / "elsewhere", path());
  EXPECT_NE(refusal_of(DumpFolder(path()).make("s", ::geteuid())).find("open the directory"),
            std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(root_ / "elsewhere"));
}
