// SPDX-License-Identifier: BSD-2-Clause
//
// Budgets, with a program that calls one function as fast as it can and others now and then
// (tests/targets/busy.c).
#include <algorithm>
#include <map>

#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

constexpr double kSmall =
    5;  // percent: far less than the hot function costs, far more than the others

class Budgets : public KernelTest {
 protected:
  void create(const std::string& session, double budget) {
    must(engine->create_session(session, budget));
  }

  CommitSummary count(const std::string& session, const std::string& functions) {
    return set(session, "u::" + functions, process(program_.pid()), "count");
  }

  // All that was left out so far, by function.
  std::map<std::string, LeftOut> look() {
    for (const BudgetKept& kept : engine->budgets().keep()) {
      must(kept.done);
      for (const LeftOut& one : kept.left_out) {
        EXPECT_TRUE(left_out_.emplace(function_of(one.load.probe), one).second);
        told_of_.insert(kept.session);
      }
    }
    return left_out_;
  }

  // Waits for that many looks at the budget, each at its time.
  void look_often(int looks) {
    for (uint64_t last = 0; looks > 0; look()) {
      const uint64_t next = engine->budgets().next_look_ns();
      if (next != last) --looks;
      last = next;
    }
  }

  nlohmann::json stop() {
    program_.send("stop");
    return parsed(program_.finish());
  }

  std::map<std::string, uint64_t> counts(const std::string& session) {
    std::map<std::string, uint64_t> counts;
    for (const auto& [key, row] : read(session).rows) counts[function_of(key.probe)] = row.count;
    return counts;
  }

  // Whether the program has a probe at the function.
  bool is_armed(const std::string& function) {
    const auto found =
        must(engine->list({must(parse_pattern("u::" + function))}, process(program_.pid()), {}));
    const uint64_t offset = found.parts.at(0).probes->at(0).sites.at(0).offset;
    const auto changed = changed_code(program_.pid(), program_.path());
    return std::find(changed.begin(), changed.end(), offset) != changed.end();
  }

  Program program_{"busy", {}};
  std::map<std::string, LeftOut> left_out_;
  std::set<std::string> told_of_;
};

TEST_F(Budgets, LeaveOutWhatCostsMoreAndTheRestGoesOnExactly) {
  create("s", kSmall);
  EXPECT_EQ(count("s", "busy_*").probes, 4u);
  program_.send("go");
  until([&] { return !look().empty(); });
  const uint64_t hot = counts("s")["busy_hot"];
  EXPECT_FALSE(is_armed("busy_hot"));
  for (const char* other : {"busy_cool", "busy_slow", "busy_below"})
    EXPECT_TRUE(is_armed(other)) << other;
  look_often(4);
  ASSERT_EQ(left_out_.size(), 1u);
  const LeftOut& left_out = left_out_.at("busy_hot");
  EXPECT_GT(left_out.load.percent, kSmall);
  EXPECT_EQ(left_out.budget, kSmall);
  EXPECT_EQ(left_out.load.cost, CostClass::normal);
  const auto said = stop();
  // The count so far stays, and does not grow.
  auto counted = counts("s");
  EXPECT_EQ(counted["busy_hot"], hot);
  EXPECT_GT(hot, 0u);
  EXPECT_LT(hot, said["busy_hot"].get<uint64_t>());
  for (const char* other : {"busy_cool", "busy_slow", "busy_below"})
    EXPECT_EQ(counted[other], said[other].get<uint64_t>()) << other;
}

// The reported rate is one that the program can have called at.
TEST_F(Budgets, TellHowOftenItWasHit) {
  create("s", kSmall);
  count("s", "busy_hot");
  const auto begun = std::chrono::steady_clock::now();
  program_.send("go");
  until([&] { return !look().empty(); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  const double told = left_out_.at("busy_hot").load.hits_per_second;
  const auto counted = static_cast<double>(counts("s")["busy_hot"]);
  EXPECT_LE(told * 0.25, counted * 1.01);  // within any one period
  EXPECT_GE(told * took.count(), counted * 0.5);
}

TEST_F(Budgets, ThatAreLargeEnoughLeaveNothingOut) {
  create("s", 100.0 * static_cast<double>(::sysconf(_SC_NPROCESSORS_CONF)));
  KernelTest::create("without");
  count("s", "busy_*");
  count("without", "busy_*");
  program_.send("go");
  look_often(16);  // the hits of all periods together would exceed it
  EXPECT_TRUE(left_out_.empty());
  const auto said = stop();
  for (const char* session : {"s", "without"})
    for (const auto& [function, calls] : counts(session))
      EXPECT_EQ(calls, said[function].get<uint64_t>()) << session << " " << function;
}

TEST_F(Budgets, AreNotLookedAtWhereThereIsNone) {
  KernelTest::create("s");
  count("s", "busy_*");
  EXPECT_EQ(engine->budgets().next_look_ns(), 0u);
  create("empty", kSmall);
  EXPECT_EQ(engine->budgets().next_look_ns(), 0u);
}

TEST_F(Budgets, OfOneSessionTakeNothingFromAnother) {
  create("poor", kSmall);
  KernelTest::create("rich");
  count("poor", "busy_*");
  count("rich", "busy_*");
  program_.send("go");
  until([&] { return !look().empty(); });
  EXPECT_EQ(told_of_, std::set<std::string>{"poor"});
  EXPECT_TRUE(is_armed("busy_hot"));
  const uint64_t poor = counts("poor")["busy_hot"];
  look_often(2);
  const auto said = stop();
  for (const auto& [function, calls] : counts("rich"))
    EXPECT_EQ(calls, said[function].get<uint64_t>()) << function;
  EXPECT_EQ(counts("poor")["busy_hot"], poor);
}

// A draft stays a draft, too.
TEST_F(Budgets, HoldForLaterCommits) {
  create("s", 1);  // also if hits take longer, as in tests/mutate
  count("s", "busy_hot");
  must(stage("s", "u::busy_cool", process(program_.pid()), "count"));
  program_.send("go");
  until([&] { return !look().empty(); });
  EXPECT_FALSE(is_armed("busy_hot"));
  const Session& session = *must(engine->sessions().find("s"));
  ASSERT_TRUE(session.draft);
  EXPECT_EQ(session.draft->size(), 2u);
  EXPECT_TRUE(session.hooks.empty());
  const auto committed = must(engine->commits().commit("s", {}));
  EXPECT_EQ(committed.probes, 1u);
  ASSERT_EQ(committed.notes.size(), 1u);
  EXPECT_NE(committed.notes[0].find("busy_hot"), std::string::npos);
  EXPECT_FALSE(is_armed("busy_hot"));
  EXPECT_TRUE(is_armed("busy_cool"));
}

TEST_F(Budgets, TakeWhatIsBelowAGraphWithItsRoot) {
  create("s", kSmall);
  set("s", "u::busy_hot", process(program_.pid()), "graph, time by path");
  EXPECT_TRUE(is_armed("busy_below"));
  program_.send("go");
  until([&] { return !look().empty(); });
  EXPECT_EQ(left_out_.size(), 1u);
  EXPECT_EQ(left_out_.at("busy_hot").others, 1u);
  EXPECT_FALSE(is_armed("busy_hot"));
  EXPECT_FALSE(is_armed("busy_below"));
}

// busy_cool is called some hundred times a second: by the figures of docs/performance.md that is far below the budget.
TEST_F(Budgets, AreKeptByWhatHitsWereSeenToTake) {
  constexpr uint32_t kNs = 1'000'000;
  constexpr tc_hit_costs kDear{.entry = {kNs, kNs, kNs, kNs},
                               .by_return = kNs,
                               .by_jump = kNs,
                               .by_trampoline = kNs,
                               .between = {}};
  engine.reset();
  engine = must(Engine::start(
      must(Kernel::open({.hit_costs = [kDear](Emulator*) { return kDear; }})), EngineOptions{}));
  create("s", kSmall);
  count("s", "busy_cool");
  program_.send("go");
  until([&] { return look().contains("busy_cool"); });
  EXPECT_FALSE(is_armed("busy_cool"));
}

TEST_F(Budgets, HoldWhereOneOfTheProcessesHasEnded) {
  create("s", kSmall);
  Program other("busy", {});
  Target both = process(program_.pid());
  both.pids.push_back(other.pid());
  set("s", "u::busy_*", both, "count");
  other.end_input();
  other.wait_for_end();
  program_.send("go");
  until([&] { return !look().empty(); });
  EXPECT_FALSE(is_armed("busy_hot"));
  const auto said = stop();
  EXPECT_EQ(counts("s")["busy_cool"], said["busy_cool"].get<uint64_t>());
}

TEST_F(Budgets, AreOfThisMachinesProcessors) {
  for (const double wrong : {0.0, -1.0, 1e9}) {
    const auto made = engine->create_session("s", wrong);
    ASSERT_FALSE(made) << wrong;
    EXPECT_EQ(made.error().code, Code::invalid);
    EXPECT_EQ(made.error().field, "budget");
  }
}

}  // namespace
}  // namespace tracectl::on_kernel
