// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/libraries_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tracectl {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A tree as of a JDK, with copies of a real shared object.
class LibrariesAhead : public testing::Test {
 protected:
  void SetUp() override {
    const std::string name = (fs::temp_directory_path() / "ahead.XXXXXX").string();
    std::string made = name;
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    root_ = made;
    program_ = library("bin/java");
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string library(const fs::path& path) const {
    fs::create_directories((root_ / path).parent_path());
    fs::copy_file("/proc/self/exe", root_ / path);
    return root_ / path;
  }
  std::vector<std::string> ahead(const std::string& object) const {
    return libraries_ahead(object, {program_});
  }

  fs::path root_;
  std::string program_;
};

TEST_F(LibrariesAhead, AreThoseBelowTheProgramsOwnLib) {
  const std::string deep = library("lib/server/libjvm.so"), flat = library("lib/libjli.so");
  library("lib/a/b/c/d/libjvm.so");
  EXPECT_THAT(ahead("libjvm.so"), ElementsAre(deep));
  EXPECT_THAT(ahead("libj*"), ElementsAre(flat, deep));
  EXPECT_THAT(ahead("libz*"), IsEmpty());
}

TEST_F(LibrariesAhead, IsTheFileThatAPathNames) {
  const std::string real = library("lib/libx.so.1");
  fs::create_symlink(real, root_ / "lib/libx.so");
  EXPECT_THAT(ahead(root_ / "lib/libx.so"), ElementsAre(real));
  EXPECT_THAT(ahead(root_ / "lib/none.so"), IsEmpty());
}

TEST_F(LibrariesAhead, AreBesideWhatIsMappedAtTheStart) {
  const std::string beside = library("bin/plugin.so");
  EXPECT_THAT(ahead("plugin*"), ElementsAre(beside));
  EXPECT_THAT(libraries_ahead("plugin*", {program_, beside}), IsEmpty());
  library("bin/plugin.so.2");
  EXPECT_THAT(libraries_ahead("plugin*", {program_, beside}), IsEmpty());
}

TEST_F(LibrariesAhead, AreSharedObjects) {
  fs::create_directories(root_ / "lib");
  std::ofstream(root_ / "lib/libx.a") << "!<arch>\n";
  std::ofstream(root_ / "lib/libx.so") << "INPUT(libx.so.1)";
  fs::create_directory(root_ / "lib/libx.d");
  EXPECT_THAT(ahead("libx*"), IsEmpty());
}

TEST_F(LibrariesAhead, AreNotMoreThanAFew) {
  for (size_t i = 0; i < kMostAhead; ++i) library("lib/libx" + std::to_string(i) + ".so");
  EXPECT_THAT(ahead("libx*"), SizeIs(kMostAhead));
  library("lib/liby.so");
  EXPECT_THAT(ahead("lib*"), IsEmpty());
}

TEST_F(LibrariesAhead, NoneIsOfTheProgramItself) { EXPECT_THAT(ahead(""), IsEmpty()); }

}  // namespace
}  // namespace tracectl
