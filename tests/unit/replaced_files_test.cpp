// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/replaced_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tracectl {
namespace {

using Paths = std::set<std::string>;

class ReplacedFilesTest : public ::testing::Test {
 protected:
  ReplacedFilesTest() {
    std::string made = ::testing::TempDir() + "replaced-XXXXXX";
    folder_ = ::mkdtemp(made.data());
    write("a");
    write("b");
  }
  ~ReplacedFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name) const { std::ofstream(folder_ / name) << "text"; }
  void put(const std::string& name) const {
    write("new");
    std::filesystem::rename(path("new"), path(name));
  }

  std::filesystem::path folder_;
  ReplacedFiles files_;
};

TEST_F(ReplacedFilesTest, AreToldOnceWhenTheyAreRenamedOrWritten) {
  files_.watch({path("a"), path("b")});
  EXPECT_EQ(files_.take(), Paths{});
  put("a");
  EXPECT_EQ(files_.take(), Paths{path("a")});
  EXPECT_EQ(files_.take(), Paths{});
  write("b");
  EXPECT_EQ(files_.take(), Paths{path("b")});
}

TEST_F(ReplacedFilesTest, OnlyThoseThatAreWatchedNowAreTold) {
  files_.watch({path("a")});
  put("b");
  EXPECT_EQ(files_.take(), Paths{});
  files_.watch({path("b"), "/tracectl-no-such-directory/x"});
  put("a");
  put("b");
  EXPECT_EQ(files_.take(), Paths{path("b")});
  files_.watch({});
  put("b");
  EXPECT_EQ(files_.take(), Paths{});
}

TEST_F(ReplacedFilesTest, OneThatIsNotThereYetIsToldWhenItComes) {
  files_.watch({path("c")});
  put("c");
  EXPECT_EQ(files_.take(), Paths{path("c")});
}

}  // namespace
}  // namespace tracectl
