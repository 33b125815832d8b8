// SPDX-License-Identifier: BSD-2-Clause
//
// Something that a commit needs goes away during the commit: a target ends, memory runs out. Either
// the commit fails and nothing has changed, or it succeeds for what is left.
#include <iostream>
#include <new>

#include "tests/support/memory_limit.h"
#include "tests/support/steps.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

class HalfWay : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped()) return;
    create("s");
    must(stage("s", "uprobe::f000[0-4]", process(busy.pid()), "count"));
    set("s", "uprobe::f002[0-4]", process(busy.pid()), "count");
    before = state();
    busy.send("go");
    until([&] { return sum(read("s")) > 0; });
    code = changed_code(busy.pid(), busy.path());
  }

  // Changes the kind of counters in force, adds sites, and removes sites of a link.
  void stage_for_busy() {
    must(stage("s", "uprobe::f000[0-4]", process(busy.pid()), "count by tid"));
    must(stage("s", "uprobe::f001[0-4]", process(busy.pid()), "event, count"));
    must(engine->drafts().remove("s", {must(parse_pattern("uprobe::f002[0-4]"))}, std::nullopt));
  }

  // The engine's use of the kernel's tables, and its epoch.
  struct State {
    uint64_t epoch;
    uint32_t slots, hooks, counters;
    size_t links;
    bool operator==(const State&) const = default;
  };
  State state() const {
    const Slots& all = engine->slots();
    return {engine->kernel().switching().epoch(), all.slot_ids.used(), all.hook_ids.used(),
            all.stat_ids.used(), all.links.size()};
  }
  void expect_nothing_changed() const {
    EXPECT_EQ(state(), before);
    EXPECT_EQ(changed_code(busy.pid(), busy.path()), code);
  }

  // The hits of functions with this prefix.
  uint64_t counted(const std::string& functions) {
    uint64_t total = 0;
    for (const auto& [key, row] : read("s").rows)
      if (function_of(key.probe).starts_with(functions)) total += row.count;
    return total;
  }
  // Stops the program, and returns how often each function was called.
  uint64_t stop() {
    busy.send("stop");
    return parsed(busy.finish())["calls_per_function"];
  }
  // From one call of each thread on, every call of the added functions is counted.
  void expect_unbroken(uint64_t calls) {
    uint64_t least = calls, most = 0;
    for (char digit = '0'; digit <= '4'; ++digit) {
      const uint64_t count = counted(std::string("f001") + digit);
      least = std::min(least, count);
      most = std::max(most, count);
    }
    EXPECT_GT(least, 0u);
    EXPECT_LE(most - least, 2u);  // threads
  }
  void until_added_is_heard() {
    until([&] { return counted("f0014") > 0; });
  }

  Program busy{"counters", {"2", "0", "20"}};  // calls f0000 to f0019
  State before{};
  std::vector<uint64_t> code;
};

// ---- the target ends during a commit ----

class TargetEnds : public HalfWay {
 protected:
  // Ends the process when this step is done for the n-th time. Links are armed in the order of the
  // processes.
  void at(Step when, int nth, std::unique_ptr<Program> ending) {
    stage_for_busy();
    must(stage("s", "uprobe::f000*", process(ending->pid()), "count"));
    const auto committed = [&] {
      const AtEachStep watch([&](Step step) {
        if (step == when && --nth == 0) ending.reset();
      });
      return engine->commits().commit("s", {});
    }();
    EXPECT_FALSE(ending);
    std::cout << (committed ? "committed" : committed.error().message) << '\n';
    if (committed)
      until_added_is_heard();
    else
      expect_nothing_changed();
    const uint64_t calls = stop();
    EXPECT_EQ(counted("f000"), 5 * calls);
    if (committed)
      expect_unbroken(calls);
    else
      EXPECT_EQ(counted("f001"), 0u);
    must(engine->delete_session("s"));
    EXPECT_TRUE(changed_code(busy.pid(), busy.path()).empty());
    EXPECT_EQ(engine->slots().slot_ids.used(), 0u);
  }

  std::unique_ptr<Program> second() {
    return std::make_unique<Program>("counters", std::vector<std::string>{"1", "0", "100"});
  }
};

TEST_F(TargetEnds, BetweenStagingAndArming) { at(Step::stage, 1, second()); }
TEST_F(TargetEnds, BetweenTheArmingOfTheFirstLinkAndTheSecond) { at(Step::arm, 1, second()); }
TEST_F(TargetEnds, BetweenTheArmingOfTheSecondLinkAndTheThird) { at(Step::arm, 2, second()); }
TEST_F(TargetEnds, BetweenTheSwitchAndTheWait) { at(Step::switch_, 1, second()); }
TEST_F(TargetEnds, BetweenTheWaitAndTheDisarming) { at(Step::wait, 1, second()); }

// ---- memory runs out during a commit ----

class NoSink : public EventSink {
  void take(std::span<const StreamItem>) override {}
};

TEST_F(HalfWay, MemoryRunsOutAtAnyMoment) {
  // Makes the rings and reads the file before, because the test is about the commit.
  must(engine->streams().subscribe("s", std::make_shared<NoSink>()));
  stage_for_busy();
  must(engine->commits().commit("s", {.dry_run = true}));
  for (long allocations = 0;; ++allocations) {
    try {
      const MemoryLimit limit(allocations);
      must(engine->commits().commit("s", {}));
      std::cout << "a commit took " << allocations << " allocations\n";
      break;
    } catch (const std::bad_alloc&) {}
    expect_nothing_changed();
    if (HasFailure()) FAIL() << "after " << allocations << " allocations";
  }
  until_added_is_heard();
  const uint64_t calls = stop();
  expect_unbroken(calls);
  // The counts of the old hooks may have found no room after the switch; then they are in the
  // totals.
  EXPECT_EQ(read("s").totals.hits, 5 * calls + counted("f001"));
  must(engine->streams().flush("s"));
  EXPECT_EQ(engine->streams().stats().malformed, 0u);
}

}  // namespace
}  // namespace tracectl::on_kernel
