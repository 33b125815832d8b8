// SPDX-License-Identifier: BSD-2-Clause
//
// Saved sessions over restarts of the engine, compared with the traced program's own counts.
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "daemon/model/shares.h"
#include "daemon/saved/saved_names.h"
#include "tests/support/collector.h"
#include "tests/support/restarts.h"
#include "tests/support/steps.h"

namespace tracectl::on_kernel {
namespace {

class Restarts : public RestartTest {};

// Far longer than a hit takes.
void delay() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

class Counted : public EventSink {
 public:
  void take(std::span<const StreamItem> items) override {
    const std::lock_guard lock(mutex_);
    for (const StreamItem& item : items)
      if (const auto* event = std::get_if<Event>(&item))
        ++events_, wrong_ += event->source->probe.find("f00") == std::string::npos;
      else
        lost_ += std::get<Lost>(item).count;
  }
  uint64_t events() const { return locked(events_); }
  uint64_t lost() const { return locked(lost_); }
  uint64_t wrong() const { return locked(wrong_); }

 private:
  uint64_t locked(const uint64_t& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  mutable std::mutex mutex_;
  uint64_t events_ = 0, lost_ = 0, wrong_ = 0;
};

TEST_F(Restarts, TenOfThemMissNoCallAndCountNoneTwice) {
  Program program("counters", {"2", "0", "100"});
  save("s");
  set("s", "uprobe::f00*", process(program.pid()), "count");
  program.send("go");
  for (int i = 0; i < 10; ++i) {
    restart();
    const uint64_t before = sum(read("s"));
    until([&] { return sum(read("s")) > before; });
  }
  program.send("stop");
  EXPECT_EQ(sum(read("s")), parsed(program.finish())["total"].get<uint64_t>());
  must(engine->delete_session("s"));
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
}

// Kept keys count as before: none is lost, and none counts twice.
TEST_F(Restarts, LeaveToEachTableWhatIsUsedOfIt) {
  const Shares shares =
      Shares::of(TC_MAX_KEYS, static_cast<uint32_t>(EngineOptions{}.quota.most_users));
  Program program("changes", {});
  const auto call_by_keys = [&](const std::string& session, uint32_t keys) {
    set(session, "uprobe::changes_step", process(program.pid()), "count by arg0");
    program.send("call " + std::to_string(keys));
    program.finish();
  };
  save("s");
  call_by_keys("s", shares.of_root + 1000);
  must(engine->gates().pause("s"));
  restart();
  create("t");
  call_by_keys("t", shares.rest);
  EXPECT_EQ(read("t").totals.dropped_keys, 1000u);
  must(engine->delete_session("s"));
  must(engine->delete_session("t"));
  create("u");
  call_by_keys("u", shares.most_of_root() + 10);
  EXPECT_EQ(read("u").totals.dropped_keys, 10u);
}

// Delays each step of the stop and of the start, so that hits fall into each.
TEST_F(Restarts, ADelayAtEachStepOfOneMissesNoCall) {
  Program program("counters", {"2", "0", "100"});
  save("s");
  set("s", "uprobe::f00*", process(program.pid()), "count");
  program.send("go");
  std::set<Step> delayed;
  {
    const AtEachStep at([&](Step step) {
      delayed.insert(step);
      delay();
    });
    close();
    delay();
    open();
    delay();
    take_up();
  }
  for (const Step step :
       {Step::stage, Step::switch_, Step::wait, Step::copy_back, Step::free, Step::answer})
    EXPECT_TRUE(delayed.contains(step)) << static_cast<int>(step);
  program.send("stop");
  EXPECT_EQ(sum(read("s")), parsed(program.finish())["total"].get<uint64_t>());
}

// systemd closes its descriptors some time later; an answer before that would leave sites armed.
TEST_F(Restarts, WhatIsTakenOffIsDisarmedWhenThatIsAnsweredHoweverLateTheStoreIs) {
  Program program("counters", {"1", "0", "100"});
  store.is_late = true;
  save("s");
  must(stage("s", "uprobe::f000*", process(program.pid()), "count"));
  set("s", "uprobe::f001*", process(program.pid()), "count");
  restart();
  must(engine->drafts().remove("s", {must(parse_pattern("uprobe::f000*"))}, std::nullopt));
  must(engine->commits().commit("s", {}));
  EXPECT_EQ(changed_code(program.pid(), program.path()).size(), 10u);
  must(engine->delete_session("s"));
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
}

TEST_F(Restarts, EveryEventThatFittedTheRingsIsDeliveredAndTheRestIsCounted) {
  Program program("counters", {"2", "0", "100"});
  save("s");
  set("s", "uprobe::f00*", process(program.pid()), "event");
  auto sink = std::make_shared<Counted>();
  must(engine->streams().subscribe("s", sink));
  program.send("go");
  for (int i = 0; i < 10; ++i) {
    engine->streams().end();
    restart();
    must(engine->streams().subscribe("s", sink));
    const uint64_t before = sink->events();
    until([&] { return sink->events() > before; });
  }
  program.send("stop");
  const uint64_t calls = parsed(program.finish())["total"];
  must(engine->streams().flush("s"));
  EXPECT_EQ(sink->events() + sink->lost(), calls);
  EXPECT_EQ(sink->wrong(), 0u);
  EXPECT_EQ(read("s").totals.dropped_ring, sink->lost());
  EXPECT_EQ(engine->streams().stats().malformed, 0u);
}

// The second daemon writes down what the third one reads.
TEST_F(Restarts, ARingKeepsItsSizeWhateverTheNextDaemonMakesNewOnesOf) {
  Program program("hot", {});
  save("s");
  set("s", "uprobe::hot_push", process(program.pid()), "event");
  ring_bytes = 64 << 10;
  restart();
  restart();
  auto sink = std::make_shared<Collector>();
  must(engine->streams().subscribe("s", sink));
  constexpr uint64_t kCalls = 20'000;  // more than fit into the smaller ring
  program.send("hot_push " + std::to_string(kCalls));
  program.finish();
  must(engine->streams().flush("s"));
  EXPECT_EQ(events_of(*sink).size(), kCalls);
  EXPECT_EQ(engine->streams().stats().malformed, 0u);
}

TEST_F(Restarts, WhatDidNotReachItsSubscriberIsToldToTheNextOneOnce) {
  Program program("hot", {});
  save("s");
  set("s", "uprobe::hot_push", process(program.pid()), "event");
  engine->streams().end();
  engine->streams().note_unsent("s", 5);
  restart();
  restart();  // without a subscriber in between
  for (const uint64_t expected : {5u, 0u}) {
    auto sink = std::make_shared<Counted>();
    must(engine->streams().subscribe("s", sink));
    must(engine->streams().flush("s"));
    EXPECT_EQ(sink->lost(), expected);
    engine->streams().end();
    restart();
  }
}

TEST_F(Restarts, OfAnUnsavedSessionNothingIsLeft) {
  Program program("counters", {"1", "0", "100"});
  save("s");
  create("unsaved");
  set("unsaved", "uprobe::f00*", process(program.pid()), "count");
  set("s", "uprobe::f0001", process(program.pid()), "count");  // part of the link of all of them
  restart();
  EXPECT_EQ(engine->sessions().size(), 1u);
  EXPECT_EQ(changed_code(program.pid(), program.path()).size(), 1u);
}

TEST_F(Restarts, WhatIsStartedMeanwhileIsSeenFromItsFirstCall) {
  Program before("counters", {"1", "50", "10"});
  save("s");
  set("s", "uprobe::f00*", running(before.path()), "count by pid");
  close();
  Program meanwhile("counters", {"2", "100", "10"});
  uint64_t calls = parsed(meanwhile.run())["total"];
  go_on();
  Program after("counters", {"1", "200", "10"});
  calls += parsed(after.run())["total"].get<uint64_t>();
  calls += parsed(before.run())["total"].get<uint64_t>();
  EXPECT_EQ(sum(read("s")), calls);
  EXPECT_EQ(read("s").rows.size(), 30u);
}

TEST_F(Restarts, WhatAProcessHasDoneThatEndsMeanwhileIsCounted) {
  Program lives("counters", {"1", "50", "10"});
  auto ends = std::make_unique<Program>("counters", std::vector<std::string>{"1", "70", "10"});
  save("s");
  Target both = process(lives.pid());
  both.pids.push_back(ends->pid());
  set("s", "uprobe::f00*", both, "count");
  uint64_t calls = parsed(lives.run())["total"];
  close();
  calls += parsed(ends->run())["total"].get<uint64_t>();
  ends.reset();
  go_on();
  EXPECT_EQ(sum(read("s")), calls);
}

TEST_F(Restarts, KeysConditionsAndPausesStayAsTheyAre) {
  Program program("counters", {"1", "0", "100"});
  save("s");
  save("paused");
  set("s", "uprobe::f00*", process(program.pid()), "count, hist(arg0), count by arg0 & 3");
  set("paused", "uprobe::f00*", process(program.pid()), "count");
  must(engine->gates().pause("paused"));
  program.send("go");
  restart();
  EXPECT_TRUE(engine->gates().is_paused(*must(engine->sessions().find("paused"))));
  must(engine->gates().resume("paused"));
  until([&] { return sum(read("paused")) > 1000; });
  restart();
  program.send("stop");
  const uint64_t calls = parsed(program.finish())["total"];
  std::map<std::string, uint64_t> counts;
  for (const auto& [key, row] : read("s").rows) counts[key.aggregate] += row.count;
  EXPECT_EQ(counts.size(), 2u) << "of hits, keyed or not, and of values";
  for (const auto& [aggregate, count] : counts)
    EXPECT_EQ(count, aggregate == "count" ? 2 * calls : calls) << aggregate;
  EXPECT_LT(sum(read("paused")), calls);
}

TEST_F(Restarts, WhatSettingsHadCountedThatWereReplacedIsStillThere) {
  Program program("counters", {"1", "0", "100"});
  save("s");
  set("s", "uprobe::f00*", process(program.pid()), "count by arg0 & 1");
  program.send("go");
  set("s", "uprobe::f00*", process(program.pid()), "count");
  restart();
  set("s", "uprobe::f00*", process(program.pid()), "count by arg0 & 1");
  restart();
  program.send("stop");
  EXPECT_EQ(sum(read("s")), parsed(program.finish())["total"].get<uint64_t>());
}

// The first restarted daemon makes the tables of keys, and the next one finds them.
TEST_F(Restarts, WhatADaemonThatWentOnHasCountedByKeysIsStillThere) {
  Program program("counters", {"1", "0", "100"});
  save("s");
  set("s", "uprobe::f00*", process(program.pid()), "count");
  restart();
  set("s", "uprobe::f00*", process(program.pid()), "count by arg0 & 1");
  program.send("go");
  until([&] { return sum(read("s")) > 0; });
  restart();
  program.send("stop");
  const uint64_t called = parsed(program.finish())["total"].get<uint64_t>();
  EXPECT_EQ(sum(read("s")), called);
}

TEST_F(Restarts, CallsThatAreOpenMeanwhileHaveTheirReturns) {
  Program program("calls", {"3000"});
  save("s");
  set("s", "u::calls_*", process(program.pid()), "time");
  program.send("go");
  restart();
  restart();
  const auto said = parsed(program.finish());
  std::map<std::string, Row> rows;
  for (const auto& [key, row] : read("s").rows) rows[function_of(key.probe)] = row;
  EXPECT_EQ(read("s").totals.cut, 0u);
  for (const auto& [function, truth] : said["functions"].items()) {
    if (function == "calls_moved" || function == "calls_mover") continue;
    EXPECT_EQ(rows[function].count, truth["returns"].get<uint64_t>()) << function;
    EXPECT_EQ(rows[function].unwound, truth["unwound"].get<uint64_t>()) << function;
  }
}

// Each thread is nearly always between the two probes.
TEST_F(Restarts, StartsThatWaitMeanwhileFindTheirEnds) {
  Program program("counters", {"2", "0", "100"});
  save("s");
  Setting pair = setting("uprobe::f0099", process(program.pid()), "hist(duration)");
  pair.latency =
      Latency{.from = must(parse_pattern("uprobe::f0000")), .by = must(parse_keys("arg1"))};
  must(engine->drafts().set("s", {std::move(pair)}));
  must(engine->commits().commit("s", {}));
  program.send("go");
  for (int i = 0; i < 3; ++i) {
    const uint64_t before = sum(read("s"));
    until([&] { return sum(read("s")) > before; });
    restart();
  }
  program.send("stop");
  const uint64_t calls = parsed(program.finish())["calls_per_function"];
  const LatencyResult latency = read("s").latencies.begin()->second;
  EXPECT_EQ(latency.started + latency.matched + latency.unmatched + latency.dropped, 2 * calls);
  // A hit that waits too long for another's lock is dropped, and counted as dropped.
  EXPECT_LE(latency.unmatched + latency.overwritten, latency.dropped);
}

TEST_F(Restarts, WhatIsDoneBehindOneIsAsBeforeIt) {
  Program program("counters", {"2", "0", "100"});
  save("s");
  set("s", "uprobe::f00*", process(program.pid()), "count");
  program.send("go");
  restart();
  must(engine->drafts().remove("s", {must(parse_pattern("uprobe::f00*"))}, std::nullopt));
  must(stage("s", "uprobe::f000*", process(program.pid()), "count"));
  must(engine->commits().commit("s", {}));
  save("later");
  set("later", "uprobe::f00*", process(program.pid()), "count");
  restart();
  const uint64_t before = sum(read("later"));
  until([&] { return sum(read("later")) > before; });
  EXPECT_EQ(changed_code(program.pid(), program.path()).size(), 100u);
  must(engine->delete_session("later"));
  must(engine->delete_session("s"));
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
  for (const char* kind : {"link.", "beside.", "ring.", "object."})
    EXPECT_EQ(store.size(kind), 0u) << kind;
  program.send("stop");
  program.finish();
}

TEST_F(Restarts, AStateThatIsNoneLeavesNothingArmed) {
  Program program("counters", {"1", "0", "100"});
  save("s");
  set("s", "uprobe::f00*", process(program.pid()), "count");
  engine.reset();
  store.forget_all("engine.");
  open();
  const auto answers = engine->restore({{"s", {}, std::nullopt, std::nullopt, 0}});
  EXPECT_EQ(answers.at(0).error().code, Code::not_found);
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
  EXPECT_EQ(store.size("link."), 0u);
}

// A full store keeps only a part.
TEST_F(Restarts, ASessionOfWhichALinkIsMissingDoesNotGoOn) {
  Program program("counters", {"1", "0", "100"});
  save("s");
  save("whole");
  set("s", "uprobe::f000*", process(program.pid()), "count");
  set("whole", "uprobe::f001*", process(program.pid()), "count");
  engine.reset();
  store.forget(name_of_link(1, Way::entry));
  open();
  std::vector<Returning> returning;
  for (const char* name : {"s", "whole"})
    returning.push_back({name,
                         {setting(name == std::string("s") ? "uprobe::f000*" : "uprobe::f001*",
                                  process(program.pid()), "count")},
                         std::nullopt,
                         std::nullopt});
  const auto answers = engine->restore(std::move(returning));
  EXPECT_EQ(answers.at(0).error().code, Code::not_found);
  must(answers.at(1));
  EXPECT_EQ(changed_code(program.pid(), program.path()).size(), 10u);
}

TEST_F(Restarts, WhereNothingCanBeKeptNothingIsCommitted) {
  Program program("counters", {"1", "0", "100"});
  save("s");
  store.refuses = true;
  must(stage("s", "uprobe::f00*", process(program.pid()), "count"));
  EXPECT_EQ(engine->commits().commit("s", {}).error().message, "the store is full");
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
  store.refuses = false;
  EXPECT_EQ(must(engine->commits().commit("s", {})).sites, 100u);
}

TEST_F(Restarts, ATableOfKeysThatCouldNotBeKeptIsMadeAgain) {
  Program program("counters", {"1", "0", "100"});
  save("s");
  set("s", "uprobe::f00*", process(program.pid()), "count");
  store.refuses = true;
  must(stage("s", "uprobe::f00*", process(program.pid()), "count by arg0 & 1"));
  EXPECT_TRUE(names(engine->commits().commit("s", {}).error().message, "the store is full"));
  store.refuses = false;
  must(engine->commits().commit("s", {}));
  program.send("go");
  until([&] { return sum(read("s")) > 0; });
  restart();
  program.send("stop");
  const uint64_t called = parsed(program.finish())["total"].get<uint64_t>();
  EXPECT_EQ(sum(read("s")), called);
}

}  // namespace
}  // namespace tracectl::on_kernel
