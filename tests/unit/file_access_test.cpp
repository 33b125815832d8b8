// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/file_access.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace tracectl {
namespace {

constexpr uid_t kUser = 4001, kOther = 4002;
constexpr Owner kOwner{.uid = kUser, .gid = kUser};

FileAccess reached(Permissions file, std::vector<Permissions> directories = {{0, 0, 0755}}) {
  return {file, std::move(directories)};
}

bool may_read(const FileAccess& access) { return access.may_be_read_by(kOwner); }

class InAFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "access-XXXXXX";
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder_ = name;
    ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
    file_ = folder_ + "/file";
    const Fd made{::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)};
    ASSERT_EQ(::fchmod(made.get(), 0644), 0);
    ASSERT_EQ(::fstat(made.get(), &status_), 0);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  FileAccess found(const std::string& path) {
    const auto process = Process::open(::getpid());
    EXPECT_TRUE(process);
    return FileAccesses(*process).of(path, status_);
  }

  std::string folder_, file_;
  struct stat status_ {};
};

}  // namespace

TEST(FileAccess, IsByTheModeOfTheFile) {
  EXPECT_TRUE(may_read(reached({0, 0, 0755})));
  EXPECT_FALSE(may_read(reached({0, 0, 0711})));
  EXPECT_FALSE(may_read(reached({0, 0, 0750})));
  EXPECT_TRUE(may_read(reached({kUser, 0, 0500})));
  EXPECT_FALSE(may_read(reached({kUser, 0, 0077})));
  EXPECT_TRUE(may_read(reached({0, kUser, 0740})));
  EXPECT_FALSE(may_read(reached({0, kUser, 0704})));
  EXPECT_FALSE(may_read(reached({0, kOther, 0704})));  // it could be one of the user's groups
}

TEST(FileAccess, IsByTheDirectories) {
  EXPECT_FALSE(may_read(reached({0, 0, 0644}, {{0, 0, 0755}, {0, 0, 0700}})));
  EXPECT_TRUE(may_read(reached({0, 0, 0644}, {{0, 0, 0755}, {kUser, 0, 0700}})));
  EXPECT_TRUE(may_read(reached({0, 0, 0644}, {{0, 0, 0711}})));
}

TEST(FileAccess, IsNoneWhereItIsNotKnown) {
  EXPECT_FALSE(may_read({{0, 0, 0644}, std::nullopt}));
  EXPECT_TRUE(may_read({{kUser, 0, 0600}, std::nullopt}));
  EXPECT_FALSE(may_read(reached({0, 0, 0644, true})));
  EXPECT_FALSE(may_read(reached({0, 0, 0644}, {{0, 0, 0755, true}})));
}

TEST_F(InAFolder, AFileIsFoundByItsName) {
  const FileAccess access = found(file_);
  ASSERT_TRUE(access.directories);
  EXPECT_EQ(access.directories->size(),
            static_cast<size_t>(std::count(file_.begin(), file_.end(), '/')));
  EXPECT_TRUE(may_read(access));
}

TEST_F(InAFolder, AClosedDirectoryHidesAFile) {
  ASSERT_EQ(::chmod(folder_.c_str(), 0700), 0);
  const FileAccess access = found(file_);
  ASSERT_TRUE(access.directories);
  EXPECT_FALSE(may_read(access));
}

TEST_F(InAFolder, WhatTheNameDoesNotLeadToIsNotKnown) {
  std::filesystem::create_symlink(file_, folder_ + "/link");
  std::filesystem::create_directory_symlink(folder_, folder_ + "/way");
  std::filesystem::copy_file(file_, folder_ + "/other");
  for (const std::string& path : {folder_ + "/link", folder_ + "/way/file", folder_ + "/other",
                                  folder_ + "/none", folder_, std::string("file"), std::string()})
    EXPECT_FALSE(found(path).directories) << path;
}

}  // namespace tracectl
