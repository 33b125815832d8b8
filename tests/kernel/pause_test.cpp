// SPDX-License-Identifier: BSD-2-Clause
//
// Pauses, counters that start again, commits that share a switch, and lingering sites. All of them
// are switches, too. Compared with the traced program's own counts.
#include <set>

#include "daemon/base/clock.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

const char* const kAll = "uprobe::f00*";  // a hundred functions

class Pause : public KernelTest {
 protected:
  // Waits until every function was called once more.
  void until_called_again(const std::string& witness) {
    const uint64_t before = sum(read(witness));
    until([&] { return sum(read(witness)) > before + 1000; });
  }
  uint64_t total(Program& program) {
    program.send("stop");
    return parsed(program.finish())["total"];
  }
};

TEST_F(Pause, NothingIsCountedMeanwhileAndCountersAreKept) {
  Program program("counters", {"2", "0", "100"});
  create("s");
  create("witness");
  set("s", kAll, process(program.pid()), "count");
  set("witness", kAll, process(program.pid()), "count");
  program.send("go");
  until_called_again("s");
  const auto paused = must(engine->gates().pause("s"));
  EXPECT_EQ(paused.sessions, 1u);
  EXPECT_EQ(paused.sites, 100u);
  const uint64_t then = sum(read("s"));
  EXPECT_GT(then, 0u);
  until_called_again("witness");
  EXPECT_EQ(sum(read("s")), then);
  EXPECT_FALSE(changed_code(program.pid(), program.path()).empty());
  must(engine->gates().resume("s"));
  until_called_again("s");
  const uint64_t all = total(program);
  EXPECT_EQ(sum(read("witness")), all);
}

TEST_F(Pause, OfAllSessionsIsOneSwitch) {
  Program program("counters", {"2", "0", "100"});
  for (const char* name : {"a", "b", "c"}) {
    create(name);
    set(name, kAll, process(program.pid()), "count");
  }
  program.send("go");
  for (int i = 0; i < 50; ++i) {
    const uint64_t before = engine->kernel().switching().epoch();
    EXPECT_EQ(must(engine->gates().pause(std::nullopt)).sessions, 3u);
    EXPECT_EQ(engine->kernel().switching().epoch(), before + 1);
    const uint64_t a = sum(read("a"));
    EXPECT_EQ(sum(read("b")), a);
    EXPECT_EQ(sum(read("c")), a);
    must(engine->gates().resume(std::nullopt));
  }
  EXPECT_GT(sum(read("a")), 0u);
  total(program);
}

TEST_F(Pause, OfWhatIsPausedIsNoSwitch) {
  create("s");
  must(engine->gates().pause("s"));
  const uint64_t before = engine->kernel().switching().epoch();
  EXPECT_EQ(must(engine->gates().pause("s")).sessions, 0u);
  EXPECT_EQ(must(engine->gates().pause(std::nullopt)).sessions, 0u);
  EXPECT_EQ(engine->kernel().switching().epoch(), before);
  EXPECT_FALSE(engine->gates().pause("nobody"));
}

TEST_F(Pause, WhatIsCommittedMeanwhileIsArmedAndSilent) {
  Program program("counters", {"2", "0", "100"});
  create("s");
  must(engine->gates().pause("s"));
  set("s", kAll, process(program.pid()), "count");
  program.send("go");
  until([&] { return !changed_code(program.pid(), program.path()).empty(); });
  create("witness");
  set("witness", kAll, process(program.pid()), "count");
  until_called_again("witness");
  EXPECT_EQ(sum(read("s")), 0u);
  const auto resumed = must(engine->gates().resume("s"));
  EXPECT_EQ(resumed.figures.phases.arm / 1'000'000, 0u);
  until_called_again("s");
  total(program);
}

TEST_F(Pause, ARestartSetsToZeroAndResumes) {
  Program program("counters", {"1", "10", "100"});
  create("s");
  set("s", kAll, process(program.pid()), "count by tid");
  program.run();
  EXPECT_EQ(sum(read("s")), 1000u);
  must(engine->gates().pause("s"));
  EXPECT_EQ(sum(read("s")), 1000u);
  must(engine->counting().restart("s"));
  EXPECT_EQ(sum(read("s")), 0u);
  EXPECT_EQ(read("s").totals.hits, 0u);
  EXPECT_FALSE(must(engine->sessions().find("s"))->paused);
}

// ---- commits that share a switch ----

using Together = Pause;

TEST_F(Together, CommitsOfSeveralSessionsAreOneSwitch) {
  Program program("counters", {"2", "0", "100"});
  for (const char* name : {"a", "b", "c"}) {
    create(name);
    must(stage(name, kAll, process(program.pid()), "count"));
  }
  program.send("go");
  const uint64_t before = engine->kernel().switching().epoch();
  const auto done = engine->commits().commit_together({{"a", {}}, {"b", {}}, {"c", {}}});
  ASSERT_EQ(done.size(), 3u);
  for (const auto& one : done) {
    ASSERT_TRUE(one);
    EXPECT_EQ(one->epoch, before + 1);
    EXPECT_EQ(one->added, 100u);
  }
  until_called_again("a");
  must(engine->gates().pause(std::nullopt));
  const uint64_t a = sum(read("a"));
  EXPECT_EQ(sum(read("b")), a);
  EXPECT_EQ(sum(read("c")), a);
  total(program);
}

TEST_F(Together, WhatOneSessionGivesUpAndAnotherTakesIsCountedOnce) {
  Program program("counters", {"2", "0", "100"});
  create("a");
  create("b");
  set("a", kAll, process(program.pid()), "count");
  program.send("go");
  std::string gives = "a", takes = "b";
  for (int i = 0; i < 100; ++i, std::swap(gives, takes)) {
    must(engine->drafts().remove(gives, {must(parse_pattern(kAll))}, std::nullopt));
    must(stage(takes, kAll, process(program.pid()), i % 2 ? "count" : "count by tid"));
    for (auto& done : engine->commits().commit_together({{gives, {}}, {takes, {}}}))
      must(std::move(done));
  }
  const uint64_t all = total(program);
  EXPECT_EQ(sum(read("a")) + sum(read("b")), all);
}

TEST_F(Together, OneThatFailsTakesNoOtherWithIt) {
  Program program("counters", {"1", "10", "100"}), refused("refused", {"1"});
  for (const char* name : {"a", "b", "c"}) create(name);
  must(stage("a", kAll, process(program.pid()), "count"));
  must(stage("b", "uprobe::refused_lock", process(refused.pid()), "count"));
  must(stage("c", kAll, process(program.pid()), "count"));
  const auto done =
      engine->commits().commit_together({{"a", {}}, {"b", {}}, {"nobody", {}}, {"c", {}}});
  ASSERT_EQ(done.size(), 4u);
  EXPECT_TRUE(done[0]);
  EXPECT_FALSE(done[1]);
  EXPECT_FALSE(done[2]);
  EXPECT_TRUE(done[3]);
  program.run();
  EXPECT_EQ(sum(read("a")), 1000u);
  EXPECT_EQ(sum(read("c")), 1000u);
  EXPECT_TRUE(must(engine->sessions().find("b"))->draft);
}

// ---- lingering sites ----

class Linger : public Pause {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "arming probes needs root";
    start({.linger_ns = kLong});
  }
  void remove_all(const std::string& session, const char* pattern) {
    must(engine->drafts().remove(session, {must(parse_pattern(pattern))}, std::nullopt));
    removed = must(engine->commits().commit(session, {}));
  }
  static constexpr uint64_t kLong = 3600'000'000'000;
  CommitSummary removed;
};

TEST_F(Linger, SwitchingOnAgainArmsNothingAndCountsEachHit) {
  Program program("counters", {"2", "0", "100"});
  create("s");
  set("s", kAll, process(program.pid()), "count");
  program.send("go");
  until_called_again("s");
  remove_all("s", kAll);
  EXPECT_EQ(removed.lingering, 100u);
  EXPECT_FALSE(changed_code(program.pid(), program.path()).empty());
  const uint64_t then = sum(read("s"));
  const uint32_t links = engine->slots().last_incarnation;
  const auto again = set("s", kAll, process(program.pid()), "count");
  EXPECT_EQ(again.added, 100u);
  EXPECT_EQ(again.lingering, 0u);
  EXPECT_EQ(engine->slots().last_incarnation, links);
  until([&] { return sum(read("s")) > then; });
  total(program);
}

TEST_F(Linger, EndsAtItsTime) {
  start({.linger_ns = 1});
  Program program("counters", {"1", "10", "100"});
  create("s");
  set("s", kAll, process(program.pid()), "count");
  remove_all("s", kAll);
  EXPECT_EQ(removed.lingering, 100u);
  const uint64_t end = engine->switches().next_linger_end_ns();
  ASSERT_NE(end, 0u);
  until([&] { return boot_ns() > end; });
  must(engine->switches().end_lingering());
  EXPECT_EQ(engine->slots().by_id.size(), 0u);
  EXPECT_EQ(engine->switches().next_linger_end_ns(), 0u);
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
}

TEST_F(Linger, IsNotForAProbeWithASemaphore) {
  Program program("usdt_all", {"1"});
  create("s");
  set("s", "usdt::*:*", process(program.pid()), "count");
  size_t without_semaphore = 0;
  for (const auto& [id, slot] : engine->slots().by_id) without_semaphore += !slot.key.semaphore;
  ASSERT_LT(without_semaphore, engine->slots().by_id.size());
  remove_all("s", "usdt::*:*");
  EXPECT_EQ(removed.lingering, without_semaphore);
  for (const auto& [id, slot] : engine->slots().by_id) EXPECT_EQ(slot.key.semaphore, 0u);
}

// ---- figures, and values in force ----

using Figures = Pause;

// A CPU's first hit is between the store and the end of the wait after it.
void expect_in_order(const SwitchFigures& figures) {
  EXPECT_GT(figures.phases.switch_, 0u);
  EXPECT_GT(figures.phases.wait, 0u);
  std::set<uint32_t> cpus;
  for (const FirstHit& first : figures.first_hits) {
    EXPECT_LE(first.after_ns, figures.phases.wait + figures.phases.switch_);
    EXPECT_TRUE(cpus.insert(first.cpu).second);
  }
}

TEST_F(Figures, TheSkewOfASwitchIsOfTheCpusThatHadHits) {
  Program program("counters", {"2", "0", "100"});
  create("s");
  const auto quiet = set("s", kAll, process(program.pid()), "count");
  EXPECT_TRUE(quiet.figures.first_hits.empty());
  program.send("go");
  until_called_again("s");
  // A CPU that has something else to run may have no hit.
  int i = 0;
  until([&] {
    const auto busy = set("s", kAll, process(program.pid()), ++i % 2 ? "count by tid" : "count");
    expect_in_order(busy.figures);
    return busy.figures.first_hits.size() == 2;
  });
  total(program);
}

TEST_F(Figures, OfReadingAndZeroingAreThoseOfItsSwitch) {
  Program program("counters", {"2", "0", "100"});
  create("s");
  set("s", kAll, process(program.pid()), "count");
  EXPECT_TRUE(must(engine->counting().read("s", true)).figures.value().first_hits.empty());
  program.send("go");
  until_called_again("s");
  until([&] {
    const uint64_t before = engine->kernel().switching().epoch();
    const auto cleared = must(engine->counting().read("s", true));
    EXPECT_EQ(cleared.epoch, before + 1);
    expect_in_order(cleared.figures.value());
    return cleared.figures->first_hits.size() == 2;
  });
  const auto read = must(engine->counting().read("s", false));
  EXPECT_EQ(read.epoch, engine->kernel().switching().epoch());
  EXPECT_FALSE(read.figures);
  total(program);
}

TEST_F(Figures, OfADeletionAreThoseOfItsSwitch) {
  Program program("counters", {"2", "0", "100"});
  create("witness");
  set("witness", kAll, process(program.pid()), "count");
  program.send("go");
  until_called_again("witness");
  until([&] {
    create("s");
    const uint64_t before = set("s", kAll, process(program.pid()), "count").epoch;
    const auto deleted = must(engine->delete_session("s"));
    EXPECT_EQ(deleted.epoch, before + 1);
    EXPECT_EQ(deleted.sessions, 1u);
    EXPECT_EQ(deleted.sites, 100u);
    expect_in_order(deleted.figures);
    return deleted.figures.first_hits.size() == 2;
  });
  total(program);
}

TEST_F(Figures, OfAnEmptySessionAreTheSameWhetherItIsPausedOrDeleted) {
  create("s");
  for (const auto& done : {must(engine->gates().pause("s")), must(engine->delete_session("s"))}) {
    EXPECT_EQ(done.sessions, 1u);
    EXPECT_EQ(done.sites, 0u);
    EXPECT_EQ(done.figures.phases.arm / 1'000'000, 0u);
    expect_in_order(done.figures);
  }
}

TEST_F(Pause, InfoHasWhatIsNeededToSetItAgainAndWhatBothGenerationsHave) {
  Program program("counters", {"1", "10", "100"});
  create("s");
  set("s", kAll, process(program.pid()), "count by tid");
  const auto info = engine->info(must(parse_pattern("uprobe::f0007")));
  ASSERT_EQ(info.size(), 1u);
  EXPECT_EQ(info[0].generations, (std::array<size_t, 2>{1, 1}));
  must(engine->drafts().set("s", {*info[0].setting}));
  const auto again = must(engine->commits().commit("s", {}));
  EXPECT_EQ(again.added + again.updated + again.removed, 0u);
  must(engine->gates().pause("s"));
  const auto paused = engine->info(must(parse_pattern("uprobe::f0007")));
  EXPECT_TRUE(paused.at(0).paused);
  EXPECT_EQ(paused.at(0).generations, (std::array<size_t, 2>{0, 0}));
}

}  // namespace
}  // namespace tracectl::on_kernel
