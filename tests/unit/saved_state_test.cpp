// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/saved_state.h"

#include <gtest/gtest.h>

namespace tracectl::protocol {
namespace {

SavedState some_state() {
  SavedSession session{.name = "s",
                       .user = 1000,
                       .owner = SavedOwner{1000, 1000, uint64_t{1} << 40, 4026531837},
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
  const Owner owner = owner_of(*read->sessions[0].owner);
  EXPECT_EQ(owner, (Owner{1000, 1000, uint64_t{1} << 40, 4026531837}));
  EXPECT_EQ(read->sessions[0].settings[0].births[0], ~uint64_t{0});
}

TEST(SavedState, EveryPartThatIsCutIsRefused) {
  const auto text = text_of(some_state());
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(saved_state(text.substr(0, size))) << size;
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
  auto state = some_state();
  state.sessions[0].owner->uid = uint64_t{1} << 32;  // would be cut to root's
  EXPECT_FALSE(saved_state(text_of(state)));
  state = some_state();
  state.sessions[0].user = uint64_t{1} << 32;
  EXPECT_FALSE(saved_state(text_of(state)));
}

}  // namespace
}  // namespace tracectl::protocol
