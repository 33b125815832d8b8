// SPDX-License-Identifier: BSD-2-Clause
//
// The daemon's configuration, and the journal's part of its log.
#include "daemon/control/configuration.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "daemon/control/log.h"

using namespace tracectl;

namespace {

class ConfigurationTest : public ::testing::Test {
 protected:
  ConfigurationTest() {
    char name[] = "/tmp/configuration-XXXXXX";
    folder_ = ::mkdtemp(name);
    source_.path = folder_ / "tracectld.json";
  }
  ~ConfigurationTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& text) { std::ofstream(source_.path) << text; }
  std::string refusal_of(const std::string& text) {
    write(text);
    const auto read = source_.read();
    return read ? "none" : read.error().message.substr(source_.path.size() + 2);
  }

  std::filesystem::path folder_;
  ConfigurationSource source_;
};

std::string fields_text(std::string_view line) {
  std::string text;
  for (const auto& [name, value] : journal_fields(line)) text += name + "=" + value + " ";
  return text;
}

}  // namespace

TEST_F(ConfigurationTest, WithoutAFileTheDefaultsHold) {
  const auto read = source_.read();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->dumps, "/var/lib/tracectl/dumps");
  EXPECT_EQ(read->ring_bytes, EngineOptions{}.ring_bytes);
  EXPECT_FALSE(read->verbose);
}

TEST_F(ConfigurationTest, AFileThatWasNamedMustBeThere) {
  source_.must_exist = true;
  const auto read = source_.read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, source_.path + ": open it: No such file or directory");
}

TEST_F(ConfigurationTest, TheCommandLineGoesBeforeTheFile) {
  write(R"({"linger": 2.5, "ring-bytes": 4096, "verbose": true, "dumps": "/a"})");
  source_.command_line.ring_bytes = 8192;
  const auto read = source_.read();
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->ring_bytes, 8192u);
  EXPECT_EQ(read->linger_s, 2.5);
  EXPECT_TRUE(read->verbose);
  EXPECT_EQ(read->dumps, "/a");
}

TEST_F(ConfigurationTest, OfAQuotaWhatIsMissingKeepsItsDefault) {
  write(R"({"quota": {"stream-bytes": 4096, "users": 7, "most-users": 20}})");
  const auto read = source_.read();
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->quota.stream_bytes, 4096u);
  EXPECT_EQ(read->quota.users, 7u);
  EXPECT_EQ(read->quota.most_users, 20u);
  EXPECT_EQ(read->quota.ring_bytes, Quota{}.ring_bytes);
  EXPECT_EQ(read->quota.of_all(SIZE_MAX / 2), SIZE_MAX) << "without end, and not around it";
}

TEST_F(ConfigurationTest, WhatIsWrongIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal_of("{\n  \"linger\": 1,\n}"), "line 3, column 1: this is not JSON in UTF-8");
  EXPECT_EQ(refusal_of(""), "line 1, column 1: this is not JSON in UTF-8");
  EXPECT_EQ(refusal_of("[]"), "the message: expected an object, got an array");
  EXPECT_EQ(refusal_of(R"({"ring-bytes": 5000})"),
            "ring-bytes: a power of two from 4096 to 1073741824 is wanted");
  EXPECT_EQ(refusal_of(R"({"ring-bytes": 2048})"),
            "ring-bytes: a power of two from 4096 to 1073741824 is wanted");
  EXPECT_EQ(refusal_of(R"({"linger": -1})"), "linger: 0 to 86400 seconds are wanted");
  for (const char* users : {"0", "256"})
    EXPECT_EQ(refusal_of(R"({"quota": {"most-users": )" + std::string(users) + "}}"),
              "quota.most-users: 1 to 255 are wanted");
  EXPECT_EQ(refusal_of(R"({"dumps": "here"})"), "dumps: an absolute path is wanted");
  EXPECT_EQ(refusal_of(R"({"dump": "/a"})"), "dump: unknown field; did you mean \"dumps\"?");
  EXPECT_EQ(refusal_of(std::string(70000, ' ')), "it has more than 65536 bytes");
}

TEST_F(ConfigurationTest, AReloadTakesAllOrNothing) {
  DumpFolder dumps{folder_ / "first"};
  LiveConfiguration live{*source_.read(), dumps};
  const auto folder_of_next = [&] {
    auto made = dumps.make("s", ::geteuid());
    return made ? std::filesystem::path(made->place.path()).parent_path().filename().string()
                : made.error().message;
  };
  write(R"({"dumps": ")" + (folder_ / "second").string() + R"(", "linger": 1, "fast-nops": true})");
  EXPECT_EQ(live.take(source_.read()), "configuration read; needs a restart: linger, fast-nops");
  EXPECT_EQ(folder_of_next(), "second");
  write(R"({"dumps": ")" + (folder_ / "third").string() + R"(", "linger": "1"})");
  EXPECT_EQ(live.take(source_.read()), "the configuration stays as it was: " + source_.path +
                                           ": linger: expected a number, got a string");
  EXPECT_EQ(folder_of_next(), "second");
}

TEST(JournalFields, AreTheWordsOfWhatWasDone) {
  EXPECT_EQ(fields_text("commit session=s uid=0 pid=7 epoch=1"),
            "TRACECTL_ACTION=commit TRACECTL_SESSION=s TRACECTL_UID=0 TRACECTL_PID=7 "
            "TRACECTL_EPOCH=1 ");
  EXPECT_EQ(fields_text("dump session=s events=3 reason: x=y z=1"),
            "TRACECTL_ACTION=dump TRACECTL_SESSION=s TRACECTL_EVENTS=3 ");
}

TEST(JournalFields, OtherLinesHaveNone) {
  EXPECT_EQ(fields_text("listening on /run/tracectl/tracectl.sock"), "");
  EXPECT_EQ(fields_text("session=s"), "");
  EXPECT_EQ(fields_text("Commit session=s"), "");
  EXPECT_EQ(fields_text(""), "");
}
