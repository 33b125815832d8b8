// SPDX-License-Identifier: BSD-2-Clause
//
// Each user has a share of every table, so one user cannot fill a table for others.
#include "daemon/model/shares.h"
#include "tests/support/collector.h"
#include "tests/support/users_file.h"

namespace tracectl::on_kernel {
namespace {

constexpr uint32_t kUsers = 15;

struct FilledBy {
  const char* action;
  uint32_t entries;  // of the table
};

// The first user takes all it can get.
class SharesOfTables : public WithUsersFile, public ::testing::WithParamInterface<FilledBy> {
 protected:
  static Shares shares() { return Shares::of(GetParam().entries, kUsers); }

  void start_with(size_t most_users) { start({.quota = {.most_users = most_users}}); }

  // Makes that many calls, each with a different key.
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
  // Entries it gives back can be used by everybody.
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

// Numbers that are used as keys: a table has their meanings. Eight paths of 16 steps are a tree of
// 118 steps, each with the function it leads to, and eight ends.
struct Numbered {
  const char* name;
  const char* function;
  const char* action;
  const char* fill;  // more than the table holds
  const char* do_little;
  size_t rows;  // the result of do_little: less than a share
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

// Otherwise each round would find less room than the one before.
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
                                                    "ways 16384", "ways 8", 244}),
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
    must(engine->drafts().set(session, {pair}));
    must(engine->commits().commit(session, {}));
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

// Tables of threads: each thread takes one entry, until it ends.
struct OfThreads {
  const char* name;
  uint32_t entries;
  unsigned depth;   // of a thread's calls
  unsigned misses;  // counted for a thread without an entry
  bool is_held;     // the records of calls wait for the end of the outermost call
};

constexpr unsigned kBeyond = 10;

class SharesOfThreads : public WithUsersFile, public ::testing::WithParamInterface<OfThreads> {
 protected:
  SharesOfThreads() : WithUsersFile("waits") {}
  static Shares shares() { return Shares::of(GetParam().entries, kUsers); }

  // Makes that many threads and kBeyond more, of which exactly kBeyond find no entry.
  void expect_beyond(const std::string& session, uid_t as, uint32_t threads) {
    const auto id = std::to_string(as);
    programs_.push_back(run_by({"--reuid=" + id, "--regid=" + id, "--clear-groups"}));
    Program& program = *programs_.back();
    must(engine->streams().subscribe(session, std::make_shared<Collector>()));
    Setting calls =
        setting(probe("waits_nest"), process(program.pid()), GetParam().is_held ? "graph" : "time");
    if (GetParam().is_held) calls.spec.keep_if = must(parse_condition("pid > 0"));
    must(engine->drafts().set(session, {calls}));
    must(engine->commits().commit(session, {}));
    say(program,
        "begin " + std::to_string(threads + kBeyond) + ":" + std::to_string(GetParam().depth));
    if (GetParam().is_held) say(program, "return 0");
    const Totals totals = read(session).totals;
    EXPECT_EQ(GetParam().is_held ? totals.dropped_ring : totals.cut, kBeyond * GetParam().misses)
        << session;
  }

  std::vector<std::unique_ptr<Program>> programs_;
};

TEST_P(SharesOfThreads, AreLeftToOthersByAUserWhoFillsTheTable) {
  create_for(user(), "greedy");
  create_for(user(4002), "another");
  create("root");
  expect_beyond("greedy", kUser, shares().most_of_user());
  expect_beyond("another", 4002, shares().of_user);
  expect_beyond("root", 0, shares().of_root);
  // Entries it gives back can be used by everybody, even while its threads continue.
  must(engine->delete_session("greedy"));
  create("root-2");
  expect_beyond("root-2", 0, shares().rest);
}

std::string name_of_threads(const ::testing::TestParamInfo<OfThreads>& of) { return of.param.name; }

INSTANTIATE_TEST_SUITE_P(Of, SharesOfThreads,
                         ::testing::Values(OfThreads{"open_calls", TC_MAX_CALLERS, 1, 1, false},
                                           OfThreads{"deep_calls", TC_MAX_DEEP_BLOCKS,
                                                     2 * TC_NEAR_CALLS, TC_NEAR_CALLS, false},
                                           OfThreads{"held_records", TC_MAX_HELD_BLOCKS, 1, 2,
                                                     true}),
                         name_of_threads);

// Tables whose entries the engine assigns.
class SharesOfPlaces : public WithUsersFile {
 protected:
  void SetUp() override {
    WithUsersFile::SetUp();
    if (IsSkipped()) return;
    start({.quota = {.sessions = TC_MAX_SESSIONS,
                     .settings = TC_MAX_SPECS,
                     .sites = TC_MAX_SLOTS,
                     .most_users = kUsers}});
  }
  void TearDown() override {
    for (const std::string& file : files_) std::filesystem::remove(file);
    WithUsersFile::TearDown();
  }
  static Shares shares(uint32_t places) { return Shares::of(places, kUsers); }

  // Another file of the user's, which is given to the session.
  std::string file_of(const std::string& session, const std::string& program, uint32_t number) {
    files_.push_back(path_ + "-" + std::to_string(number));
    std::filesystem::copy_file(target_path(program), files_.back(),
                               std::filesystem::copy_options::overwrite_existing);
    if (::chmod(files_.back().c_str(), 0755) || ::chown(files_.back().c_str(), kUser, kUser))
      throw std::runtime_error("cannot give a file to the user");
    give(session, files_.back());
    return files_.back();
  }
  void give(const std::string& session, const std::string& file) {
    must(engine->give_file(session, Fd{::open(file.c_str(), O_RDONLY | O_CLOEXEC)}, file));
  }
  static void expect_full(const Error& error, const std::string& of) {
    EXPECT_EQ(error.code, Code::exhausted);
    EXPECT_TRUE(names(error.message, of)) << error.message;
    EXPECT_TRUE(names(error.message, "quota.most-users")) << error.message;
  }

  std::vector<std::string> files_;
};

TEST_F(SharesOfPlaces, OfSessionsAreLeftToOthers) {
  const Shares of_sessions = shares(TC_MAX_SESSIONS);
  const auto name = [](const char* whose, uint32_t n) { return whose + std::to_string(n); };
  for (uint32_t n = 0; n < of_sessions.most_of_user(); ++n)
    must(engine->create_session(name("greedy", n), std::nullopt, user()));
  const auto more = engine->create_session("more", std::nullopt, user());
  ASSERT_FALSE(more);
  expect_full(more.error(), "sessions");
  for (uint32_t n = 0; n < of_sessions.of_user; ++n)
    must(engine->create_session(name("another", n), std::nullopt, user(4002)));
  for (uint32_t n = 0; n < of_sessions.of_root; ++n) create(name("root", n));
  EXPECT_FALSE(engine->create_session("root"));
}

// Sessions of ten thousand sites each, until the next one is beyond what a user can have. They are in several files,
// because a switch makes the hooks of all sessions at its sites anew.
TEST_F(SharesOfPlaces, OfHooksAreLeftToOthers) {
  constexpr uint32_t kEach = 10'000, kFiles = 5;
  const uint32_t fit = shares(TC_MAX_HOOKS - 1).most_of_user() / kEach;
  const auto name = [](uint32_t n) { return "greedy-" + std::to_string(n); };
  std::vector<std::string> all;
  for (uint32_t n = 0; n <= fit; ++n) {
    must(engine->create_session(name(n), std::nullopt, user()));
    if (n < kFiles)
      all.push_back("uprobe:" + file_of(name(n), "many", n) + ":m0*");
    else
      give(name(n), files_[n % kFiles]);
    must(stage(name(n), all[n % kFiles], everybody(), "count"));
    if (n < fit) must(engine->commits().commit(name(n), {}));
  }
  const auto more = engine->commits().commit(name(fit), {});
  ASSERT_FALSE(more);
  expect_full(more.error(), "hooks");
  create("root");
  EXPECT_EQ(set("root", all[0], everybody(), "count").sites, kEach);
  // To have fewer is never refused.
  must(engine->drafts().remove(name(0), {must(parse_pattern(all[0]))}, std::nullopt));
  must(engine->commits().commit(name(0), {}));
  must(engine->commits().commit(name(fit), {}));
}

TEST_F(SharesOfPlaces, OfSpecsAreLeftToOthers) {
  must(engine->create_session("greedy", std::nullopt, user()));
  const std::string counters = file_of("greedy", "counters", 0);
  const auto with_a_spec = [&](uint32_t n) {
    char function[16];
    std::snprintf(function, sizeof(function), "f%04u", n);
    return setting("uprobe:" + counters + ":" + function, everybody(), "count by arg0");
  };
  const uint32_t most = shares(TC_MAX_SPECS - 1).most_of_user();
  std::vector<Setting> settings;
  for (uint32_t n = 0; n < most; ++n) settings.push_back(with_a_spec(n));
  must(engine->drafts().set("greedy", settings));
  must(engine->commits().commit("greedy", {}));
  must(engine->drafts().set("greedy", {with_a_spec(most)}));
  const auto more = engine->commits().commit("greedy", {});
  ASSERT_FALSE(more);
  expect_full(more.error(), "specs");
  create("root");
  set("root", "uprobe:" + counters + ":f000*", everybody(), "count by arg0");
}

// Twice a thousand are within one user's limit, and three hundred more within the table.
TEST_F(SharesOfPlaces, OfFormsOfArgumentsAreLeftToOthers) {
  must(engine->create_session("greedy", std::nullopt, user()));
  const std::string forms = file_of("greedy", "forms", 0);
  const auto probes = [&](const char* names) {
    return setting("usdt:" + forms + ":forms:" + names, everybody(), "event");
  };
  must(engine->drafts().set("greedy", {probes("p0*"), probes("p1*")}));
  must(engine->commits().commit("greedy", {}));
  must(engine->drafts().set("greedy", {probes("p2*")}));
  const auto more = engine->commits().commit("greedy", {});
  ASSERT_FALSE(more);
  expect_full(more.error(), "forms of arguments");
  create("root");
  set("root", "usdt:" + forms + ":forms:p2*", everybody(), "event");
  must(engine->drafts().remove("greedy", {must(parse_pattern("usdt:" + forms + ":forms:p1*"))},
                               std::nullopt));
  must(engine->drafts().set("greedy", {probes("p2*")}));
  must(engine->commits().commit("greedy", {}));
}

// Four times a thousand starts are within one user's limit.
TEST_F(SharesOfPlaces, OfHooksOfPairsAreLeftToOthers) {
  must(engine->create_session("greedy", std::nullopt, user()));
  const std::string many = file_of("greedy", "many", 0);
  const auto pair = [&](const std::string& from, const std::string& to) {
    Setting between = setting("uprobe:" + many + ":" + to, everybody(), "time");
    between.latency = Latency{.from = must(parse_pattern("uprobe:" + many + ":" + from)),
                              .by = must(parse_keys("arg0")),
                              .slowest = 1};
    return between;
  };
  for (const char* digit : {"0", "1", "2", "3"}) {
    must(engine->drafts().set(
        "greedy", {pair("m0" + std::string(digit) + "*", "m0900" + std::string(digit))}));
    must(engine->commits().commit("greedy", {}));
  }
  must(engine->drafts().set("greedy", {pair("m04*", "m09004")}));
  const auto more = engine->commits().commit("greedy", {});
  ASSERT_FALSE(more);
  expect_full(more.error(), "hooks of pairs");
  create("root");
  must(engine->drafts().set("root", {pair("m04*", "m09004")}));
  must(engine->commits().commit("root", {}));
}

TEST_F(SharesOfPlaces, OfSetsAreLeftToOthers) {
  must(engine->create_session("greedy", std::nullopt, user()));
  const auto of_those_who_run = [&](const std::string& file) {
    Target target;
    target.executables = {file};
    return setting("uprobe:" + file + ":changes_step", target, "count");
  };
  const uint32_t most = shares(TC_MAX_SET_TARGETS).most_of_user();
  std::vector<Setting> settings;
  for (uint32_t n = 0; n < most; ++n)
    settings.push_back(of_those_who_run(file_of("greedy", "changes", n)));
  must(engine->drafts().set("greedy", settings));
  must(engine->commits().commit("greedy", {}));
  must(engine->drafts().set("greedy", {of_those_who_run(file_of("greedy", "changes", most))}));
  const auto more = engine->commits().commit("greedy", {});
  ASSERT_FALSE(more);
  expect_full(more.error(), "sets of processes");
  create("root");
  must(engine->drafts().set("root", {of_those_who_run(path_)}));
  must(engine->commits().commit("root", {}));
}

// Four sessions may have rings: one of each of two users, and two more of those who come first.
class SharesOfRings : public WithUsersFile {
 protected:
  void start_with_four() {
    const size_t each = EngineOptions{}.ring_bytes * possible_cpus();
    start({.quota = {.ring_bytes = 4 * each, .users = 1, .most_users = 2}});
  }
  Status take_rings(const std::string& session) {
    return engine->streams().subscribe(session, std::make_shared<Collector>());
  }
};

TEST_F(SharesOfRings, AreLeftToOthersByAUserWhoTakesAllItGets) {
  start_with_four();
  for (const char* session : {"greedy", "greedy-2", "greedy-3", "greedy-4"})
    create_for(user(), session);
  for (const char* session : {"another", "another-2"}) create_for(user(4002), session);
  for (const char* session : {"greedy", "greedy-2", "greedy-3"}) must(take_rings(session));
  for (const char* session : {"greedy-4", "another-2"}) {
    if (session == std::string("another-2")) must(take_rings("another"));
    const Status more = take_rings(session);
    ASSERT_FALSE(more) << session;
    EXPECT_EQ(more.error().code, Code::exhausted);
  }
  must(engine->delete_session("greedy"));
  must(take_rings("another-2"));
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
