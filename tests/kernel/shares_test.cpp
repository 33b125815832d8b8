// SPDX-License-Identifier: BSD-2-Clause
//
// What one user fills is not what another finds full: each has a share of every table.
#include "daemon/model/shares.h"
#include "tests/support/users_file.h"

namespace tracectl::on_kernel {
namespace {

constexpr uint32_t kUsers = 15;

struct FilledBy {
  const char* action;
  uint32_t entries;  // of the table
};

// The first user takes all it gets.
class SharesOfTables : public WithUsersFile, public ::testing::WithParamInterface<FilledBy> {
 protected:
  static Shares shares() { return Shares::of(GetParam().entries, kUsers); }

  void start_with(size_t most_users) { start({.quota = {.most_users = most_users}}); }

  // So many calls, each with a key of its own.
  void call_with_keys(const std::string& session, uid_t as, uint32_t keys) {
    const auto id = std::to_string(as);
    const auto program = run_by({"--reuid=" + id, "--regid=" + id, "--clear-groups"});
    set(session, probe("changes_step"), process(program->pid()), GetParam().action);
    say(*program, "call " + std::to_string(keys));
  }
  void expect_kept(const std::string& session, uint32_t kept, uint32_t dropped) {
    const Results results = read(session);
    EXPECT_EQ(results.rows.size(), kept) << session;
    EXPECT_EQ(results.totals.dropped_keys, dropped) << session;
    EXPECT_EQ(results.totals.hits, kept + dropped) << session;
  }
};

TEST_P(SharesOfTables, AreLeftToOthersByAUserWhoFillsTheTable) {
  start_with(kUsers);
  create_for(user(), "greedy");
  create_for(user(4002), "another");
  create("root");
  call_with_keys("greedy", kUser, GetParam().entries);
  expect_kept("greedy", shares().most_of_user(), GetParam().entries - shares().most_of_user());
  call_with_keys("another", 4002, shares().of_user + 10);
  expect_kept("another", shares().of_user, 10);
  call_with_keys("root", 0, shares().of_root + 10);
  expect_kept("root", shares().of_root, 10);
  // What it gives back is everybody's.
  must(engine->delete_session("greedy"));
  create("root-2");
  call_with_keys("root-2", 0, shares().rest + 10);
  expect_kept("root-2", shares().rest, 10);
}

TEST_P(SharesOfTables, AreLeftToUsersByRoot) {
  start_with(kUsers);
  create("root");
  create_for(user(), "user");
  call_with_keys("root", 0, GetParam().entries);
  expect_kept("root", shares().most_of_root(), GetParam().entries - shares().most_of_root());
  call_with_keys("user", kUser, shares().of_user + 10);
  expect_kept("user", shares().of_user, 10);
}

std::string name_of(const ::testing::TestParamInfo<FilledBy>& of) {
  const std::string action = of.param.action;
  return action.substr(0, action.find_first_of(" ("));
}

INSTANTIATE_TEST_SUITE_P(Keys, SharesOfTables,
                         ::testing::Values(FilledBy{"count by arg0", TC_MAX_KEYS},
                                           FilledBy{"sum(arg0) by arg0", TC_MAX_KEYS},
                                           FilledBy{"time by arg0", TC_MAX_TIMES}),
                         name_of);

class SharersOfTables : public WithUsersFile {};

TEST_F(SharersOfTables, AreNoMoreUsersThanAreConfigured) {
  start({.quota = {.most_users = 2}});
  must(engine->create_session("first", std::nullopt, user(4001)));
  must(engine->create_session("second", std::nullopt, user(4002)));
  must(engine->create_session("second-2", std::nullopt, user(4002)));
  const auto third = engine->create_session("third", std::nullopt, user(4003));
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, Code::exhausted);
  EXPECT_TRUE(names(third.error().message, "quota.most-users")) << third.error().message;
  must(engine->create_session("root"));
  must(engine->delete_session("first"));
  must(engine->create_session("third", std::nullopt, user(4003)));
}

}  // namespace
}  // namespace tracectl::on_kernel
