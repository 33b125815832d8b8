// SPDX-License-Identifier: BSD-2-Clause
//
// Limits of one user over all its sessions.
#include "daemon/base/clock.h"
#include "tests/support/collector.h"
#include "tests/support/users_file.h"

namespace tracectl::on_kernel {
namespace {

class Quotas : public WithUsersFile {
 protected:
  void start_with(const Quota& quota) {
    start({.quota = quota});
    for (const char* session : {"a", "b"}) create_for(user(), session);
  }
  // The number of seconds since boot in which the program was busy with it.
  static uint64_t seconds_of(Program& program, const std::string& line) {
    const uint64_t before = boot_ns() / 1'000'000'000;
    say(program, line);
    return boot_ns() / 1'000'000'000 - before + 1;
  }
  static void expect_exhausted(const Error& error, const std::string& what) {
    EXPECT_EQ(error.code, Code::exhausted);
    EXPECT_TRUE(names(error.message, what)) << error.message;
  }
};

TEST_F(Quotas, AreOfSessions) {
  start_with({.sessions = 2});
  const auto more = engine->create_session("c", std::nullopt, user());
  ASSERT_FALSE(more);
  expect_exhausted(more.error(), "2 sessions");
  EXPECT_TRUE(engine->create_session("others", std::nullopt, user(4002)));
  EXPECT_TRUE(engine->create_session("everybodys"));
  must(engine->delete_session("a"));
  EXPECT_TRUE(engine->create_session("c", std::nullopt, user()));
}

TEST_F(Quotas, AreOfSettingsThatAreStagedToo) {
  start_with({.settings = 2});
  must(stage("a", probe("changes_step"), everybody(), "count"));
  must(stage("a", probe("changes_within"), everybody(), "count"));
  // Replaces one setting.
  must(stage("a", probe("changes_within"), everybody(), "event"));
  const auto more = stage("b", probe("changes_step"), everybody(), "count");
  ASSERT_FALSE(more);
  expect_exhausted(more.error(), "2 settings");
  must(engine->drafts().abort("a"));
  must(stage("b", probe("changes_step"), everybody(), "count"));
}

TEST_F(Quotas, AreOfSitesAndAFailedCommitChangesNothing) {
  start_with({.sites = 2});
  set("a", probe("changes_step"), everybody(), "count");
  set("b", probe("changes_step"), everybody(), "count");
  must(stage("b", probe("changes_within"), everybody(), "count"));
  const auto more = engine->commits().commit("b", {});
  ASSERT_FALSE(more);
  expect_exhausted(more.error(), "2 sites");
  const auto program = run_by_user();
  say(*program, "call 10");
  EXPECT_EQ(sum(read("a")), 10u);
  EXPECT_EQ(sum(read("b")), 10u);
}

// Each of them alone would be within the limit.
TEST_F(Quotas, AreOfSitesOfCommitsThatComeTogether) {
  start_with({.sites = 1});
  create("everybodys");
  for (const char* session : {"a", "b", "everybodys"})
    must(stage(session, probe("changes_step"), everybody(), "count"));
  const auto done = engine->commits().commit_together({{"a", {}}, {"b", {}}, {"everybodys", {}}});
  ASSERT_EQ(done.size(), 3u);
  EXPECT_TRUE(done[0]);
  ASSERT_FALSE(done[1]);
  expect_exhausted(done[1].error(), "1 sites");
  EXPECT_TRUE(done[2]);
  EXPECT_EQ(must(engine->sessions().find("a"))->hooks.size(), 1u);
  EXPECT_EQ(must(engine->sessions().find("b"))->hooks.size(), 0u);
}

TEST_F(Quotas, OfSitesAreGivenUpAndTakenByCommitsThatComeTogether) {
  start_with({.sites = 1});
  set("a", probe("changes_step"), everybody(), "count");
  must(engine->drafts().remove("a", {must(parse_pattern(probe("changes_step")))}, std::nullopt));
  must(stage("b", probe("changes_step"), everybody(), "count"));
  for (auto& done : engine->commits().commit_together({{"b", {}}, {"a", {}}}))
    must(std::move(done));
  EXPECT_EQ(must(engine->sessions().find("b"))->hooks.size(), 1u);
}

TEST_F(Quotas, AreOfMemoryForEvents) {
  const size_t of_one = EngineOptions{}.ring_bytes * possible_cpus();
  start_with({.ring_bytes = of_one});
  set("a", probe("changes_step"), everybody(), "event");
  set("b", probe("changes_step"), everybody(), "count");
  must(stage("b", probe("changes_step"), everybody(), "event"));
  const auto more = engine->commits().commit("b", {});
  ASSERT_FALSE(more);
  expect_exhausted(more.error(), "1 sessions with events");
  must(engine->delete_session("a"));
  must(engine->commits().commit("b", {}));
}

TEST_F(Quotas, OfMemoryAreOfAllUsersTogether) {
  const size_t of_one = EngineOptions{}.ring_bytes * possible_cpus();
  start_with({.ring_bytes = 2 * of_one, .users = 1});
  set("a", probe("changes_step"), everybody(), "event");
  create("everybodys");
  set("everybodys", probe("changes_step"), everybody(), "event");
  must(engine->create_session("others", std::nullopt, user(4002)));
  must(engine->streams().subscribe("others", std::make_shared<Collector>()));
  const auto more = engine->streams().subscribe("b", std::make_shared<Collector>());
  ASSERT_FALSE(more);
  expect_exhausted(more.error(), "the rings of events of all users");
  must(engine->delete_session("others"));
  must(engine->streams().subscribe("b", std::make_shared<Collector>()));
}

TEST_F(Quotas, OfEventsAreOfAllSessionsOfAUserTogether) {
  constexpr uint64_t kMost = 100, kCalls = 10'000;
  start_with({.events_per_second = kMost});
  create("everybodys");
  for (const char* session : {"a", "b", "everybodys"})
    set(session, probe("changes_step"), everybody(), "event, count");
  const auto program = run_by_user();
  const uint64_t most = kMost * seconds_of(*program, "call " + std::to_string(kCalls));
  uint64_t streamed = 0;
  for (const char* session : {"a", "b"}) {
    const Results results = read(session);
    EXPECT_EQ(results.totals.hits, kCalls);
    EXPECT_EQ(sum(results), kCalls) << "what is counted is not streamed";
    streamed += results.totals.hits - results.totals.dropped_ring;
  }
  EXPECT_GE(streamed, kMost);
  EXPECT_LE(streamed, most);
  EXPECT_EQ(read("everybodys").totals.dropped_ring, 0u);
}

TEST_F(Quotas, OfEventsAreOfReturnsToo) {
  constexpr uint64_t kMost = 10;
  start_with({.events_per_second = kMost});
  set("a", probe("changes_step"), everybody(), "return");
  const auto program = run_by_user();
  const uint64_t most = kMost * seconds_of(*program, "call 1000");
  const uint64_t of_calls_and_returns = 2000 - read("a").totals.dropped_ring;
  EXPECT_GE(of_calls_and_returns, kMost);
  EXPECT_LE(of_calls_and_returns, most);
}

}  // namespace
}  // namespace tracectl::on_kernel
