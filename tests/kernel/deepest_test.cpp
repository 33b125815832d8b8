// SPDX-License-Identifier: BSD-2-Clause
//
// The depths of stacks, and the deepest stack of each thread, compared with what the program knows
// about its own frames (tests/targets/deep_stacks.c).
#include <map>
#include <set>

#include "tests/support/collector.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

using Sizes = std::vector<std::pair<std::string, uint64_t>>;

// Functions with their frame sizes in bytes, from the probed one out to `work`, or as far as they
// are known.
Sizes sizes_of(const Stack& stack) {
  Sizes sizes;
  for (const Frame& frame : stack.frames) {
    if (frame.inlined) continue;
    if (!frame.size_bytes) break;
    sizes.emplace_back(frame.function, *frame.size_bytes);
    if (frame.function == "work") break;
  }
  return sizes;
}

class Deepest : public KernelTest {
 protected:
  void set(const std::string& action, const std::string& when = "") {
    create("s");
    must(engine->streams().subscribe("s", sink_));
    Setting staged = setting("u::hit", process(program_.pid()), action);
    if (!when.empty()) staged.spec.when = must(parse_condition(when));
    must(engine->drafts().set("s", {std::move(staged)}));
    must(engine->commits().commit("s", {}));
  }
  // The program's report about its threads.
  nlohmann::json run() {
    const auto threads = parsed(program_.run())["threads"];
    must(engine->streams().flush("s"));
    for (const Event& event : events_of(*sink_)) events_[event.tid].push_back(event);
    return threads;
  }
  const std::vector<Event>& of(const nlohmann::json& thread) { return events_[thread["tid"]]; }

  Program program_{"deep_stacks", {"3", "8"}};
  std::shared_ptr<Collector> sink_ = std::make_shared<Collector>();
  std::map<pid_t, std::vector<Event>> events_;
};

TEST_F(Deepest, OfEachThreadAreTakenWhereItIsDeeperThanEverBefore) {
  set("deepest, event(stack_bytes), stack(127)");
  const auto threads = run();
  ASSERT_EQ(threads.size(), 4u);
  for (const auto& thread : threads) {
    const auto& events = of(thread);
    ASSERT_EQ(events.size(), thread["records"]);
    for (size_t i = 1; i < events.size(); ++i) EXPECT_GT(events[i].args[0], events[i - 1].args[0]);
    EXPECT_EQ(events.back().args[0], thread["bytes"].get<uint64_t>());
    ASSERT_TRUE(events.back().stack);
    EXPECT_EQ(sizes_of(*events.back().stack), thread["frames"].get<Sizes>());
  }
  EXPECT_EQ(engine->counting().marks_lost(*must(engine->sessions().find("s"))), 0u);
}

TEST_F(Deepest, OnAnotherStackThanTheThreadsOwnNothingIsDeep) {
  set("event(stack_bytes)");
  for (const auto& thread : run()) {
    const auto& events = of(thread);
    ASSERT_EQ(events.size(), thread["hits"].get<size_t>() + 1);
    for (size_t i = 0; i + 1 < events.size(); ++i) EXPECT_TRUE(events[i].args[0]);
    EXPECT_FALSE(events.back().args[0]);
  }
}

TEST_F(Deepest, ConditionsSeeHowDeepAStackIs) {
  set("event", "stack_bytes > 2000");
  for (const auto& thread : run()) EXPECT_EQ(of(thread).size(), thread["much"]);
}

TEST_F(Deepest, AreThoseOfTheHitsThatMeetTheCondition) {
  set("deepest, event(stack_bytes)", "stack_bytes <= 2000");
  for (const auto& thread : run()) {
    ASSERT_EQ(of(thread).empty(), thread["much"] == thread["hits"]);
    for (const Event& event : of(thread)) EXPECT_LE(event.args[0], 2000u);
  }
}

TEST_F(Deepest, AreOfTheirSession) {
  set("deepest, event(stack_bytes)");
  create("other");
  Setting also = setting("u::hit", process(program_.pid()), "deepest, count by tid");
  must(engine->drafts().set("other", {std::move(also)}));
  must(engine->commits().commit("other", {}));
  std::map<pid_t, uint64_t> counted, told;
  for (const auto& thread : run()) {
    told[thread["tid"]] = thread["records"];
    EXPECT_EQ(of(thread).size(), thread["records"]);
  }
  for (const auto& [key, row] : read("other").rows)
    if (tid_of(key)) counted[tid_of(key)] = row.count;
  EXPECT_EQ(counted, told);
}

TEST_F(Deepest, OfMoreThanIsCopiedAreRightAsFarAsTheyGo) {
  Program deep("deep_stacks", {"0", "60"});
  create("s");
  must(engine->streams().subscribe("s", sink_));
  KernelTest::set("s", "u::hit", process(deep.pid()), "deepest, event(stack_bytes), stack(127)");
  const auto thread = parsed(deep.run())["threads"][0];
  must(engine->streams().flush("s"));
  const Event deepest = events_of(*sink_).back();
  EXPECT_EQ(deepest.args[0], thread["bytes"].get<uint64_t>());
  EXPECT_EQ(deepest.stack->end, StackEnd::end_of_copy);
  const Sizes found = sizes_of(*deepest.stack);
  Sizes wanted = thread["frames"].get<Sizes>();
  ASSERT_GT(found.size(), 20u);
  ASSERT_GT(wanted.size(), found.size());
  wanted.resize(found.size());
  EXPECT_EQ(found, wanted);
}

// All calls of f0000 in a thread are equally deep.
TEST_F(Deepest, BeginAnewWithARestart) {
  constexpr size_t kThreads = 2;
  Program program("counters", {std::to_string(kThreads), "0", "2"});
  create("s");
  must(engine->streams().subscribe("s", sink_));
  must(stage("s", "u::f0000", process(program.pid()), "deepest, event"));
  must(stage("s", "u::f0001", process(program.pid()), "count by tid"));
  must(engine->commits().commit("s", {}));
  // Each of them has also called f0000.
  const auto all_came = [&] {
    std::set<pid_t> came;
    for (const auto& [key, row] : read("s").rows)
      if (row.count > 100) came.insert(tid_of(key));
    came.erase(0);
    return came.size() == kThreads;
  };
  program.send("go");
  until(all_came);
  must(engine->streams().flush("s"));
  EXPECT_EQ(events_of(*sink_).size(), kThreads);
  must(engine->counting().restart("s"));
  until(all_came);
  must(engine->streams().flush("s"));
  EXPECT_EQ(events_of(*sink_).size(), 2 * kThreads);
  program.send("stop");
  program.finish();
}

}  // namespace
}  // namespace tracectl::on_kernel
