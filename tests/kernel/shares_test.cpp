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

// Numbers that stand in keys: a table has what each means.
struct Numbered {
  const char* name;
  const char* function;
  const char* action;
  const char* fill;  // beyond the table
  const char* do_little;
  size_t rows;  // that this makes: less than a share
};

class SharesOfNumbers : public WithUsersFile, public ::testing::WithParamInterface<Numbered> {
 protected:
  Results after(const std::string& session, uid_t as, const std::string& line) {
    const auto id = std::to_string(as);
    const auto program = run_by({"--reuid=" + id, "--regid=" + id, "--clear-groups"});
    set(session, probe(GetParam().function), process(program->pid()), GetParam().action);
    say(*program, line);
    return read(session);
  }
};

TEST_P(SharesOfNumbers, AreLeftToOthersByAUserWhoFillsTheTable) {
  create_for(user(), "greedy");
  create_for(user(4002), "another");
  create("root");
  EXPECT_GT(after("greedy", kUser, GetParam().fill).totals.dropped_keys, 0u);
  for (const auto& [session, as] : {std::pair{"another", 4002}, std::pair{"root", 0}}) {
    const Results results = after(session, static_cast<uid_t>(as), GetParam().do_little);
    EXPECT_EQ(results.rows.size(), GetParam().rows) << session;
    EXPECT_EQ(results.totals.dropped_keys, 0u) << session;
  }
}

// Else each round would find less room than the one before.
TEST_P(SharesOfNumbers, AreGivenBackWithTheSession) {
  std::vector<size_t> rows;
  for (int round = 0; round < 2; ++round) {
    create_for(user(), "greedy");
    rows.push_back(after("greedy", kUser, GetParam().fill).rows.size());
    must(engine->delete_session("greedy"));
  }
  EXPECT_EQ(rows[0], rows[1]);
}

std::string name_of_table(const ::testing::TestParamInfo<Numbered>& of) { return of.param.name; }

INSTANTIATE_TEST_SUITE_P(Of, SharesOfNumbers,
                         ::testing::Values(Numbered{"texts", "changes_text", "count by str(arg0)",
                                                    "texts 70000", "texts 1000", 1000},
                                           Numbered{"stacks", "changes_end", "count by stack(40)",
                                                    "ways 16384", "ways 250", 250},
                                           Numbered{"paths", "changes_*", "graph, time by path",
                                                    "ways 16384", "ways 16", 238}),
                         name_of_table);

class SharesOfPairs : public WithUsersFile {
 protected:
  LatencyResult open_after(const std::string& session, uid_t as, uint32_t calls) {
    const auto id = std::to_string(as);
    const auto program = run_by({"--reuid=" + id, "--regid=" + id, "--clear-groups"});
    Setting pair = setting(probe("changes_within"), process(program->pid()), "time");
    pair.latency = Latency{.from = must(parse_pattern(probe("changes_step"))),
                           .by = must(parse_keys("arg0")),
                           .slowest = 1};
    must(engine->stage_set(session, {pair}));
    must(engine->commit(session, {}));
    say(*program, "call " + std::to_string(calls));
    return read(session).latencies.begin()->second;
  }
};

TEST_F(SharesOfPairs, AreLeftToOthersByAUserWhoStartsAndNeverEnds) {
  const Shares shares = Shares::of(TC_MAX_STARTS, kUsers);
  create_for(user(), "greedy");
  create_for(user(4002), "another");
  create("root");
  const LatencyResult greedy = open_after("greedy", kUser, TC_MAX_STARTS);
  EXPECT_EQ(greedy.started, shares.most_of_user());
  EXPECT_EQ(greedy.dropped, TC_MAX_STARTS - shares.most_of_user());
  EXPECT_EQ(open_after("another", 4002, shares.of_user).dropped, 0u);
  EXPECT_EQ(open_after("root", 0, shares.of_root).dropped, 0u);
  must(engine->delete_session("greedy"));
  create("root-2");
  EXPECT_EQ(open_after("root-2", 0, shares.rest + 10).dropped, 10u);
}

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
