// SPDX-License-Identifier: BSD-2-Clause
//
// The times of calls are the program's: what the probes took is left out. The kernel's part of a hit is an estimate, and
// `make bench` says how good it is. Here it is given, so that sums are exact however loaded the machine is. The program
// burns known times (tests/targets/burns.c).
#include <map>

#include "daemon/kernel/calibration.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

constexpr uint64_t kRounds = 20;
constexpr uint64_t kCallsOfMiddle = 3 * kRounds, kCallsOfInner = 9 * kRounds;

// Much more than a hit takes, and each another prime, so that no sum is right by chance.
constexpr tc_hit_costs kGiven{
    .entry = {11'003, 13'007, 17'011, 19'013},
    .by_return = 23'017,
    .by_jump = 29'009,
    .by_trampoline = 31'013,
    .between = {{3'001, 4'001, 5'003, 6'007}, {7'001, 8'009, 9'001, 10'007}}};

tc_hit_costs all_costs(uint32_t ns) {
  return {.entry = {ns, ns, ns, ns},
          .by_return = ns,
          .by_jump = ns,
          .by_trampoline = ns,
          .between = {{ns, ns, ns, ns}, {ns, ns, ns, ns}}};
}

class TimesOfTheProgram : public KernelTest {
 protected:
  struct Timed {
    const char* functions;
    Returns returns;
    const char* when = "";
  };
  // The program takes `scale` times as long as it says at its top.
  void run(const std::vector<Timed>& all, const tc_hit_costs& costs, unsigned scale) {
    begin(costs);
    run(all, "s", scale);
  }
  void run(const std::vector<Timed>& all, const std::string& session, unsigned scale) {
    Program program{"burns", {std::to_string(kRounds), std::to_string(scale)}};
    create(session);
    for (const Timed& one : all) {
      Setting set = setting("u::" + std::string(one.functions), process(program.pid()), "time");
      set.returns = one.returns;
      if (*one.when) set.spec.when = must(parse_condition(one.when));
      must(engine->drafts().set(session, {std::move(set)}));
    }
    must(engine->commits().commit(session, {}));
    said_ = parsed(program.run());
    for (const auto& [key, row] : read(session).rows) rows_[function_of(key.probe)] = row;
  }

  const Row& of(const std::string& function) const { return rows_.at("burns_" + function); }
  // What its calls were seen to take by themselves, in all.
  uint64_t burned(const char* function) const { return said_[function]["sum"].get<uint64_t>(); }

  // Of what was left out of the calls: besides `given` only what programs were seen to take, which is something for each
  // hit within the calls, and is less than what passed and was not burned.
  void expect_left_out(const std::string& function, uint64_t given, uint64_t hits_within,
                       uint64_t burned_in_all) const {
    const Row& row = of(function);
    EXPECT_GE(row.probes, given + hits_within) << function;
    EXPECT_LE(row.probes, given + (row.sum + row.probes - burned_in_all)) << function;
  }

  void expect_exact(tc_way way, uint32_t given_for_an_end);

  tc_hit_costs costs_{};  // that the engine finds

 private:
  void begin(const tc_hit_costs& costs) {
    costs_ = costs;
    engine.reset();
    engine = must(Engine::start(
        must(Kernel::open({.hit_costs = [this](Emulator*) { return costs_; }})), EngineOptions{}));
  }

  nlohmann::json said_;
  std::map<std::string, Row> rows_;
};

void TimesOfTheProgram::expect_exact(tc_way way, uint32_t given_for_an_end) {
  constexpr uint64_t kEntry = kGiven.entry[TC_COST_NORMAL];
  const uint64_t between = kGiven.between[way][TC_COST_NORMAL];
  const uint64_t stepped_between = kGiven.between[way][TC_COST_SLOW];
  ASSERT_EQ(of("inner").count, kCallsOfInner);
  EXPECT_EQ(of("inner").probes, kCallsOfInner * between);
  ASSERT_EQ(of("stepped").count, kRounds);
  EXPECT_EQ(of("stepped").probes, kRounds * stepped_between);

  const uint64_t of_inner = kEntry + given_for_an_end;
  ASSERT_EQ(of("middle").count, kCallsOfMiddle);
  expect_left_out("middle", kCallsOfMiddle * between + kCallsOfInner * of_inner, 2 * kCallsOfInner,
                  burned("middle") + burned("inner"));

  const uint64_t of_stepped = kGiven.entry[TC_COST_SLOW] + given_for_an_end;
  ASSERT_EQ(of("outer").count, kRounds);
  expect_left_out("outer",
                  kRounds * (between + of_stepped) + (kCallsOfMiddle + kCallsOfInner) * of_inner,
                  2 * (kRounds + kCallsOfMiddle + kCallsOfInner),
                  burned("outer") + burned("stepped") + burned("middle") + burned("inner"));
}

TEST_F(TimesOfTheProgram, AreWithoutWhatProbesByTrampolineTook) {
  run({{"burns_*", Returns::trampoline}}, kGiven, 100);
  expect_exact(TC_BY_TRAMPOLINE, kGiven.by_trampoline);
}

TEST_F(TimesOfTheProgram, AreWithoutWhatProbesAtExitsTook) {
  run({{"burns_*", Returns::exits}}, kGiven, 100);
  expect_exact(TC_BY_EXITS, kGiven.by_return);
}

// Without estimates only the programs' own time is left out.
TEST_F(TimesOfTheProgram, AreNotLessThanWhatItBurned) {
  run({{"burns_*", Returns::exits}}, all_costs(0), 1);
  for (const char* function : {"inner", "middle", "outer", "stepped"})
    EXPECT_GE(of(function).self, burned(function)) << function;
}

// There the kernel reports no end of a call that is not followed.
TEST_F(TimesOfTheProgram, AreWithoutEntriesOfCallsThatAreNotFollowed) {
  run({{"burns_outer", Returns::exits}, {"burns_inner", Returns::trampoline, "pid == 1"}},
      all_costs(0), 1);
  ASSERT_EQ(of("outer").count, kRounds);
  EXPECT_GE(of("outer").probes, kCallsOfInner);
}

// Estimates may be too high.
TEST_F(TimesOfTheProgram, AreNeverLessThanThoseOfTheCallsWithin) {
  tc_hit_costs costs = all_costs(4'000'000'000);
  costs.between[TC_BY_TRAMPOLINE][TC_COST_NORMAL] = 0;
  run({{"burns_*", Returns::trampoline}}, costs, 1);
  EXPECT_EQ(of("stepped").sum, 0u);
  EXPECT_GE(of("stepped").probes, burned("stepped"));
  EXPECT_GE(of("inner").sum, burned("inner"));
  EXPECT_GE(of("middle").sum, of("inner").sum);
  EXPECT_GE(of("outer").sum, of("middle").sum);
}

// The programs that follow calls stay loaded from one commit to the next.
TEST_F(TimesOfTheProgram, AreWithoutWhatProbesTakeAtTheLastCommit) {
  run({{"burns_inner", Returns::trampoline}}, kGiven, 100);
  EXPECT_EQ(of("inner").probes, kCallsOfInner * kGiven.between[TC_BY_TRAMPOLINE][TC_COST_NORMAL]);
  constexpr uint32_t kLater = 1'009;
  costs_ = all_costs(kLater);
  run({{"burns_inner", Returns::trampoline}}, "later", 100);
  EXPECT_EQ(of("inner").probes, kCallsOfInner * kLater);
}

using Calibration = KernelTest;

TEST_F(Calibration, FindsThatStepsAreDearerThanBreakpoints) {
  const tc_hit_costs costs = hit_costs(nullptr);
  EXPECT_GT(costs.entry[TC_COST_NORMAL], 0u);
  EXPECT_GT(costs.entry[TC_COST_SLOW], costs.entry[TC_COST_NORMAL]);
  EXPECT_GT(costs.by_return, 0u);
  for (const auto& between : costs.between) {
    EXPECT_GT(between[TC_COST_NORMAL], 0u);
    EXPECT_GT(between[TC_COST_SLOW], between[TC_COST_NORMAL]);
  }
}

}  // namespace
}  // namespace tracectl::on_kernel
