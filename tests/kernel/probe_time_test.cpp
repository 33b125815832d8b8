// SPDX-License-Identifier: BSD-2-Clause
//
// The times of calls are the program's: what the probes took is left out. The program burns known times
// (tests/targets/burns.c). Medians are compared, because a thread may be preempted within a hit.
#include <algorithm>
#include <cmath>
#include <map>

#include "daemon/kernel/calibration.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

constexpr uint64_t kRounds = 200;

class TimesOfTheProgram : public KernelTest {
 protected:
  void begin(Returns returns) {
    create("s");
    const std::string of = "lhist(duration, 0, ";
    std::vector<Setting> settings{
        with("burns_inner", of + "20000, 20)"), with("burns_middle", of + "100000, 100)"),
        with("burns_outer", of + "1000000, 1000)"), with("burns_stepped", of + "500000, 500)")};
    for (Setting& set : settings) set.returns = returns;
    must(engine->drafts().set("s", std::move(settings)));
    must(engine->commits().commit("s", {}));
  }

  void run() {
    said_ = parsed(program_.run());
    for (const auto& [key, row] : read("s").rows) medians_[function_of(key.probe)] = median_of(row);
  }

  double said(const char* function) const {
    return said_[function].get<double>() + said_["clock"].get<double>();
  }

  // Of the issue that asked for it: within 10 %, or 150 ns.
  void expect_near(const std::string& function, double truth) const {
    EXPECT_NEAR(medians_.at(function), truth, std::max(150.0, truth / 10)) << function;
  }

  double inner() const { return said("inner"); }
  double middle() const { return said("middle") + 3 * inner(); }
  double outer() const { return said("outer") + 3 * middle() + said("stepped"); }

  Program program_{"burns", {std::to_string(kRounds)}};
  nlohmann::json said_;
  std::map<std::string, double> medians_;

 private:
  Setting with(const std::string& function, const std::string& action) {
    return setting("u::" + function, process(program_.pid()), action);
  }

  static double median_of(const Row& row) {
    uint64_t before = 0;
    for (const auto& [number, count] : row.buckets) {
      before += count;
      const Bucket bucket = bucket_of(row.shape, number);
      if (before * 2 > row.count)
        return (static_cast<double>(bucket.low) + static_cast<double>(bucket.high)) / 2;
    }
    return -1;
  }
};

TEST_F(TimesOfTheProgram, AreRightByTrampolineAtThreeLevels) {
  begin(Returns::trampoline);
  run();
  expect_near("burns_inner", inner());
  expect_near("burns_middle", middle());
  expect_near("burns_outer", outer());
  expect_near("burns_stepped", said("stepped"));
}

// There the probes of the innermost calls take several times as long as those calls, and most of the time of the middle
// ones.
TEST_F(TimesOfTheProgram, AreRightByExitsWhereTheProbesTakeLess) {
  begin(Returns::exits);
  run();
  expect_near("burns_inner", inner());
  expect_near("burns_outer", outer());
  expect_near("burns_stepped", said("stepped"));
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
