// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/saved_state.h"

#include <gtest/gtest.h>

namespace tracectl::protocol {
namespace {

SavedState some_state() {
  SavedSession session{.name = "s",
                       .user = 1000,
                       .owner = Owner{1000, 1000, uint64_t{1} << 40, 4026531837},
                       .budget = 5,
                       .paused = true,
                       .files = {{"/usr/bin/x", "file.1.2"}}};
  session.settings.push_back(
      {{.pattern = "uprobe::f", .scope = "local", .target = {}, .action = "count"}, {}});
  session.settings[0].setting.target.pids = {71};
  session.settings[0].births = {~uint64_t{0}};
  return {.written_ns = 7, .sessions = {session}};
}

TEST(SavedState, IsReadAsItWasWritten) {
  const auto text = text_of(some_state());
  const auto read = saved_state(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(text_of(*read), text);
  EXPECT_EQ(read->sessions[0].owner, (Owner{1000, 1000, uint64_t{1} << 40, 4026531837}));
  EXPECT_EQ(read->sessions[0].settings[0].births[0], ~uint64_t{0});
}

TEST(SavedState, EveryPartThatIsCutIsRefused) {
  const auto text = text_of(some_state());
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(saved_state(text.substr(0, size))) << size;
}

// Members that are added from now on have to be optional, as in the protocol.
TEST(SavedState, WhatAnEarlierDaemonHasWrittenIsRead) {
  const auto read = saved_state(R"({"version": 1, "written_ns": 7, "sessions": [
      {"name": "s", "user": 1000, "paused": false,
       "owner": {"uid": 1000, "gid": 1000, "capabilities": 0, "user_namespace": 4026531837},
       "files": [{"path": "/usr/bin/x", "kept": "file.1.2"}],
       "recorder": {"seconds": 30}, "dump_on": {"crash": true, "failed_units": ["x.service"]},
       "settings": [{"births": [5], "setting": {
           "pattern": "uprobe::f", "scope": "local", "do": "graph", "returns": "auto",
           "graph": {"only": [], "skip": [], "beside": [], "grow": true},
           "target": {"pids": [71], "executables": [], "all": false, "will_map": [],
                      "cgroups": [], "units": []}}}]}]})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->sessions[0].settings[0].setting.target.pids, std::vector<int64_t>{71});
  EXPECT_TRUE(read->sessions[0].settings[0].setting.graph->grow);
}

TEST(SavedState, AnotherVersionIsToldAsSuch) {
  const auto read = saved_state(R"({"version": 2, "anything": []})");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::unsupported);
}

TEST(SavedState, BirthsThatAreNotThoseOfTheProcessesAreRefused) {
  auto state = some_state();
  state.sessions[0].settings[0].births.push_back(1);
  EXPECT_FALSE(saved_state(text_of(state)));
  state.sessions[0].settings[0].births.clear();
  EXPECT_FALSE(saved_state(text_of(state)));
  state.sessions[0].draft = std::move(state.sessions[0].settings);
  state.sessions[0].settings.clear();
  EXPECT_FALSE(saved_state(text_of(state)));
}

TEST(SavedState, NumbersOfUsersBeyondTheirTypeAreRefused) {
  for (const std::string member : {"\"uid\":", "\"user\":"}) {
    std::string text = text_of(some_state());
    const size_t at = text.find(member + "1000");
    ASSERT_NE(at, text.npos) << member;
    text.replace(at, member.size() + 4, member + "4294967296");  // would be cut to root's
    EXPECT_FALSE(saved_state(text)) << member;
  }
}

}  // namespace
}  // namespace tracectl::protocol
