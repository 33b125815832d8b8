// SPDX-License-Identifier: BSD-2-Clause
//
// The guarantees of a switch, compared with the traced program's own counts.
#include <time.h>

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "tests/support/steps.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

using NoSeam = KernelTest;
using NothingFollows = KernelTest;

// The recorded calls of each thread, as unbroken rows of call numbers, each under one epoch.
class Rows : public EventSink {
 public:
  struct Row {
    uint64_t epoch = 0, first = 0, last = 0;
  };

  void take(std::span<const StreamItem> items) override {
    const std::lock_guard lock(mutex_);
    for (const StreamItem& item : items)
      if (const auto* event = std::get_if<Event>(&item))
        add(by_thread_[event->tid], event->epoch, event->args.at(0).value());
      else
        lost_ += std::get<Lost>(item).count;
  }

  std::map<pid_t, std::vector<Row>> by_thread() const {
    const std::lock_guard lock(mutex_);
    return by_thread_;
  }
  uint64_t lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
  }
  uint64_t events() const {
    uint64_t count = 0;
    for (const auto& [tid, rows] : by_thread())
      for (const Row& row : rows) count += row.last - row.first + 1;
    return count;
  }

 private:
  static void add(std::vector<Row>& rows, uint64_t epoch, uint64_t call) {
    if (!rows.empty() && rows.back().epoch == epoch && rows.back().last + 1 == call)
      rows.back().last = call;
    else
      rows.push_back({epoch, call, call});
  }

  mutable std::mutex mutex_;
  std::map<pid_t, std::vector<Row>> by_thread_;
  uint64_t lost_ = 0;
};

class Switches : public KernelTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "arming probes needs root";
    start({.ring_bytes = 64 << 20});  // a lost event would be a gap
  }

  // Switches on, over and off that many times. Consecutive calls of a thread are of different
  // functions, so a set that is not switched as a whole leaves a gap in a row, or starts a second
  // row. There are three switches, so that each of them is staged in either generation; the program
  // runs on over staged and armed sites.
  void expect_whole_switches(Program& program, const char* all, size_t times) {
    create("s");
    const auto rows = std::make_shared<Rows>();
    std::set<uint64_t> switched_on;
    must(engine->streams().subscribe("s", rows));
    const AtEachStep not_in_force_yet([&](Step step) {
      if (step == Step::stage || step == Step::arm) let_run(program);
    });
    for (size_t i = 0; i < times; ++i) {
      switched_on.insert(set("s", all, process(program.pid()), "event").epoch);
      switched_on.insert(set("s", all, process(program.pid()), "event").epoch);
      must(engine->drafts().remove("s", {must(parse_pattern(all))}, std::nullopt));
      must(engine->commits().commit("s", {}));
      must(engine->streams().flush(
          "s"));  // so that the rings need room for the hits of one round only
    }
    EXPECT_EQ(rows->lost(), 0u);
    size_t count = 0;
    for (const auto& [tid, of_thread] : rows->by_thread()) {
      count += of_thread.size();
      for (const Rows::Row& row : of_thread)
        EXPECT_TRUE(switched_on.contains(row.epoch))
            << "call " << row.first << " of thread " << tid;
      for (size_t i = 1; i < of_thread.size(); ++i) expect_next(of_thread[i - 1], of_thread[i]);
    }
    EXPECT_GE(count, 2 * times);
    program.send("stop");
    program.finish();
  }

 private:
  // Compares two consecutive rows of a thread. Between one set and the set that replaces it there
  // is no call.
  static void expect_next(const Rows::Row& before, const Rows::Row& row) {
    ASSERT_LT(before.epoch, row.epoch) << "a gap behind call " << before.last;
    if (row.epoch == before.epoch + 1) {
      EXPECT_EQ(row.first, before.last + 1);
    }
  }

  // Waits for a millisecond of the program's CPU time, which is many calls.
  static void let_run(const Program& program) {
    const uint64_t until_ns = ran_ns(program.pid()) + 1'000'000;
    while (ran_ns(program.pid()) < until_ns) {
      if (program.end_status()) throw std::runtime_error("the program has ended");
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

  static uint64_t ran_ns(pid_t pid) {
    clockid_t clock{};
    timespec ran{};
    if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &ran) != 0)
      throw std::runtime_error("the program is gone");
    return static_cast<uint64_t>(ran.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(ran.tv_nsec);
  }
};

// The threads sleep between their rounds, so that those who read the events keep up with them.
TEST_F(Switches, OfSitesThatAreArmedWithThemAreWhole) {
  Program program("counters", {"2", "0", "100", "200"});
  create("holder");  // if nothing is in force, hits end before they look
  set("holder", "uprobe::main", process(program.pid()), "count");
  program.send("go");
  expect_whole_switches(program, "uprobe::f00*", 20);
}

TEST_F(Switches, OfAThousandSitesThatAnotherSessionHoldsAreWhole) {
  Program program("counters", {"4", "0", "1000", "2000"});
  create("holder");
  set("holder", "uprobe::f0*", process(program.pid()), "count");
  program.send("go");
  expect_whole_switches(program, "uprobe::f0*", 100);
}

TEST_F(NoSeam, AThousandReplacementsLoseAndDoubleNothing) {
  Program program("counters", {"2", "0", "100"});
  const auto target = process(program.pid());
  create("s");
  set("s", "uprobe::f00*", target, "count");
  program.send("go");
  for (int i = 0; i < 1000; ++i) set("s", "uprobe::f00*", target, i % 2 ? "count" : "count by tid");
  program.send("stop");
  const auto said = parsed(program.finish());
  EXPECT_EQ(sum(read("s")), said["total"].get<uint64_t>());
  EXPECT_EQ(read("s").totals.dropped_keys, 0u);
}

// A link cannot shrink, so each removal replaces it for the functions that stay.
TEST_F(NoSeam, LinksThatLoseSitesLoseAndDoubleNothingOfThoseThatStay) {
  Program program("counters", {"2", "0", "100"});
  const auto target = process(program.pid());
  const auto removed = [](int i) { return "uprobe::f00" + std::to_string(i); };
  create("s");
  for (int i = 10; i < 60; ++i) must(stage("s", removed(i), target, "count"));
  set("s", "uprobe::f000*", target, "count");
  program.send("go");
  for (int i = 10; i < 60; ++i) {
    must(engine->drafts().remove("s", {must(parse_pattern(removed(i)))}, std::nullopt));
    must(engine->commits().commit("s", {}));
  }
  program.send("stop");
  const uint64_t calls = parsed(program.finish())["calls_per_function"];
  for (const auto& [key, row] : read("s").rows)
    if (function_of(key.probe).starts_with("f000")) {
      EXPECT_EQ(row.count, calls) << key.probe;
    }
}

TEST_F(NothingFollows, BehindTheFlushThatFollowsARemoval) {
  Program program("counters", {"2", "0", "100"});
  const auto target = process(program.pid());
  create("s");
  create("witness");
  const auto rows = std::make_shared<Rows>();
  must(engine->streams().subscribe("s", rows));
  set("witness", "uprobe::f00*", target, "count");
  program.send("go");
  for (int i = 0; i < 10; ++i) {
    set("s", "uprobe::f00*", target, "event");
    const uint64_t before = rows->events();
    until([&] { return rows->events() > before; });
    must(engine->drafts().remove("s", {must(parse_pattern("uprobe::f00*"))}, std::nullopt));
    must(engine->commits().commit("s", {}));
    must(engine->streams().flush("s"));
    const uint64_t then = rows->events();
    const uint64_t calls = sum(read("witness"));
    until([&] { return sum(read("witness")) > calls + 10'000; });
    must(engine->streams().flush("s"));
    EXPECT_EQ(rows->events(), then);
  }
  program.send("stop");
  program.finish();
}

}  // namespace
}  // namespace tracectl::on_kernel
