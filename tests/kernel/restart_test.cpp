// SPDX-License-Identifier: BSD-2-Clause
//
// Saved sessions over restarts of the engine, held against what the traced program counted itself.
#include <map>
#include <mutex>
#include <utility>

#include "tests/support/collected.h"
#include "tests/support/graph_trees.h"
#include "tests/support/memory_store.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

class Restarts : public KernelTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "arming probes needs root";
    open();
  }

  void open() {
    engine =
        must(Engine::start(must(open_kernel({.store = &store})),
                           {.ring_bytes = 16 << 20, .awaits_libraries = true}, nullptr, &store));
  }
  void save(const std::string& session) {
    must(engine->create_session(session, std::nullopt, std::nullopt, true));
  }
  void close() {
    for (const Session* session : engine->sessions())
      if (session->saved)
        saved_.push_back({session->name, session->settings, std::nullopt, std::nullopt});
    engine.reset();
  }
  static Target running(const std::string& path) {
    Target target;
    target.executables = {path};
    return target;
  }
  // What it calls before there is a restart, while there is no daemon, and behind it.
  template <class Run> void run_three_times(Run run) {
    run();
    close();
    run();
    go_on();
    run();
  }
  // All that were saved.
  void go_on() {
    open();
    for (const auto& answer : engine->go_on(std::exchange(saved_, {}))) must(answer);
  }
  void restart() {
    close();
    go_on();
  }

  MemoryStore store;

 private:
  std::vector<Returning> saved_;
};

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

TEST_F(Restarts, EveryEventThatFittedTheRingsIsDeliveredAndTheRestIsCounted) {
  Program program("counters", {"2", "0", "100"});
  save("s");
  set("s", "uprobe::f00*", process(program.pid()), "event");
  auto sink = std::make_shared<Counted>();
  must(engine->subscribe("s", sink));
  program.send("go");
  for (int i = 0; i < 10; ++i) {
    engine->end_reading();
    restart();
    must(engine->subscribe("s", sink));
    const uint64_t before = sink->events();
    until([&] { return sink->events() > before; });
  }
  program.send("stop");
  const uint64_t calls = parsed(program.finish())["total"];
  must(engine->flush("s"));
  EXPECT_EQ(sink->events() + sink->lost(), calls);
  EXPECT_EQ(sink->wrong(), 0u);
  EXPECT_EQ(read("s").totals.dropped_ring, sink->lost());
  EXPECT_EQ(engine->reader_stats().malformed, 0u);
}

TEST_F(Restarts, OfAnUnsavedSessionNothingIsLeft) {
  Program program("counters", {"1", "0", "100"});
  save("s");
  create("unsaved");
  set("unsaved", "uprobe::f00*", process(program.pid()), "count");
  set("s", "uprobe::f0001", process(program.pid()), "count");  // by the link of them all
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
  must(engine->pause("paused"));
  program.send("go");
  restart();
  EXPECT_TRUE(engine->is_paused(*must(engine->session("paused"))));
  must(engine->resume("paused"));
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

// Nearly all the time each thread is between the two.
TEST_F(Restarts, StartsThatWaitMeanwhileFindTheirEnds) {
  Program program("counters", {"2", "0", "100"});
  save("s");
  Setting pair = setting("uprobe::f0099", process(program.pid()), "hist(duration)");
  pair.latency =
      Latency{.from = must(parse_pattern("uprobe::f0000")), .by = must(parse_keys("arg1"))};
  must(engine->stage_set("s", {std::move(pair)}));
  must(engine->commit("s", {}));
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
  // A hit that waits too long for another's lock is dropped, and told as that.
  EXPECT_LE(latency.unmatched + latency.overwritten, latency.dropped);
}

// ---- what comes beside settings ----

TEST_F(Restarts, CallsOfGraphsHaveTheirWays) {
  save("s");
  set("s", "u::deep_land", running(target_path("graph_deep")), "graph, time by path");
  run_three_times([] { Program("graph_deep", {"2"}).run(); });
  restart();
  set("s", "u::main", running(target_path("forker")), "count");
  restart();  // nobody counts by ways any more
  const Results results = read("s");
  std::map<std::string, uint64_t> calls;
  for (const auto& [key, row] : results.rows) {
    if (key.by.empty()) continue;
    const auto number = static_cast<uint64_t>(std::get<int64_t>(key.by.at(0).value));
    const CallPath& path = results.paths.at(number);
    const std::string around =
        path.around ? function_of(results.paths.at(path.around).probe) + ';' : "";
    calls[around + function_of(path.probe)] += row.count;
  }
  EXPECT_EQ(calls, (std::map<std::string, uint64_t>{{"deep_land", 3},
                                                    {"deep_land;deep", 3},
                                                    {"deep_land;deep_jump", 3},
                                                    {"deep_jump;deep_jump", 6}}));
}

// The records of what is called meanwhile wait in the rings.
TEST_F(Restarts, GraphsAreWhole) {
  save("s");
  const Target deep = running(target_path("graph_deep"));
  set("s", "u::deep_land", deep, "graph");
  const auto run = [] { Program("graph_deep", {"40"}).run(); };
  const auto text = [&](const std::shared_ptr<Collected>& collected) {
    must(engine->flush("s"));
    Trees trees;
    for (const Event& event : collected->events()) trees.add(event);
    return trees.text();
  };
  auto collected = std::make_shared<Collected>();
  must(engine->subscribe("s", collected));
  run();
  const std::string before = text(collected);
  EXPECT_TRUE(before.starts_with("deep_land(deep_jump(deep_jump(")) << before;
  close();
  run();
  go_on();
  collected = std::make_shared<Collected>();
  must(engine->subscribe("s", collected));
  run();
  EXPECT_EQ(text(collected), before + before);
  must(engine->delete_session("s"));
  EXPECT_EQ(store.size("link."), 0u);
}

// A program's own, and those that a session gives threads.
TEST_F(Restarts, TagsAreSeen) {
  save("own");
  save("given");
  const Target tags = running(target_path("tags"));
  set("own", "uprobe::handle", tags, "count by tag");
  must(stage("given", "uprobe::handle", tags, "tag(\"handled\")"));
  set("given", "uprobe::idle", tags, "count by tag, pid");
  run_three_times([] { Program("tags", {"1", "1", "20"}).run(); });
  std::map<std::string, uint64_t> own;
  for (const auto& [key, row] : read("own").rows)
    own[std::get<std::string>(key.by.at(0).value)] += row.count;
  EXPECT_EQ(own.size(), 20u);
  for (const auto& [tag, count] : own) EXPECT_EQ(count, 2 * 3u) << tag;
  size_t handled = 0;
  for (const auto& [key, row] : read("given").rows)
    handled += std::get<std::string>(key.by.at(0).value) == "handled";
  EXPECT_EQ(handled, 3u) << "processes";
}

TEST_F(Restarts, SessionsAreTriggeredByOthers) {
  Program program("rounds", {"1", "1000"});
  for (const char* session : {"watched", "w"}) save(session);
  set("watched", "uprobe::step", process(program.pid()), "count");
  must(engine->pause("watched"));
  const auto trigger_at = [&](const char* session, const char* when, const char* action) {
    Setting one = setting("uprobe::begin_round", process(program.pid()), action);
    one.spec.when = must(parse_condition(when));
    must(engine->stage_set(session, {std::move(one)}));
    must(engine->commit(session, {}));
  };
  trigger_at("w", "arg0 == 300", "trigger(watched)");
  restart();
  const auto is_paused = [&] { return engine->is_paused(*must(engine->session("watched"))); };
  EXPECT_TRUE(is_paused());
  save("later");
  trigger_at("later", "arg0 == 700", "trigger(watched, off)");
  restart();
  const auto steps = parsed(program.run())["steps_by_round"];
  uint64_t expected = 0;
  for (size_t round = 300; round < 700; ++round) expected += steps[round].get<uint64_t>();
  EXPECT_EQ(sum(read("watched")), expected);
  EXPECT_TRUE(is_paused());
  EXPECT_EQ(engine->delete_session("watched").error().code, Code::busy);
}

// It would trigger whoever gets the number of the one that is gone.
TEST_F(Restarts, ASessionWhoseTriggeredOneDoesNotGoOnBeginsAnew) {
  Program program("rounds", {"1", "1000"});
  save("w");
  save("watched");
  set("watched", "uprobe::step", process(program.pid()), "count");
  set("w", "uprobe::begin_round", process(program.pid()), "trigger(watched)");
  const std::vector<Setting> settings = must(engine->session("w"))->settings;
  engine.reset();
  open();
  const auto answers = engine->go_on({{"w", settings, std::nullopt, std::nullopt, 0}});
  EXPECT_EQ(answers.at(0).error().code, Code::not_found);
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
}

// As where a daemon was killed between its switch and what others write down of it.
TEST_F(Restarts, OtherSettingsThanThoseInForceDoNotGoOn) {
  Program program("counters", {"1", "0", "100"});
  save("s");
  set("s", "uprobe::f00*", process(program.pid()), "count");
  const std::vector<Setting> before = must(engine->session("s"))->settings;
  set("s", "uprobe::f00*", process(program.pid()), "count by tid");
  engine.reset();
  open();
  const auto answers = engine->go_on({{"s", before, std::nullopt, std::nullopt, 0}});
  EXPECT_EQ(answers.at(0).error().code, Code::invalid);
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
}

// ---- what comes later ----

TEST_F(Restarts, ALibraryThatWasClosedIsTracedFromItsFirstCall) {
  const std::string library = target_path("loads_library");
  Program program("loads", {});
  const auto tell = [&](const std::string& line) {
    program.send(line);
    program.finish();
  };
  save("s");
  tell("open " + library);
  set("s", "uprobe:loads_library*:loads_work", process(program.pid()), "count");
  tell("call 7");
  tell("close");
  engine->take_notices();
  engine->follow();
  for (int i = 0; i < 2; ++i) {
    restart();
    tell("open " + library);
    tell("call 20");
    tell("close");
    until([&] {
      engine->take_notices();
      engine->follow();
      return engine->next_follow_ns() == 0;
    });
  }
  EXPECT_EQ(sum(read("s")), 47u);
}

// What is made next gets its number: whoever executes the file would belong to that.
TEST_F(Restarts, ASetOfProcessesThatWasNotSavedIsEnded) {
  Program program("counters", {"1", "1", "10"});
  save("s");
  set("s", "uprobe::f0001", process(program.pid()), "count");
  create("unsaved");
  set("unsaved", "uprobe::work", running(target_path("forker")), "count");
  restart();
  Program parent("forker", {"fork", "2", "10"});
  Target family = process(parent.pid());
  family.follow = Follow::children;
  create("other");
  set("other", "uprobe::work", family, "count");
  Program("forker", {"fork", "3", "100"}).run();
  parent.run();
  EXPECT_EQ(sum(read("other")), 20u);
}

TEST_F(Restarts, WhatIsDoneBehindOneIsAsBeforeIt) {
  Program program("counters", {"2", "0", "100"});
  save("s");
  set("s", "uprobe::f00*", process(program.pid()), "count");
  program.send("go");
  restart();
  must(engine->stage_remove("s", {must(parse_pattern("uprobe::f00*"))}, std::nullopt));
  must(stage("s", "uprobe::f000*", process(program.pid()), "count"));
  must(engine->commit("s", {}));
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
  const auto answers = engine->go_on({{"s", {}, std::nullopt, std::nullopt, 0}});
  EXPECT_EQ(answers.at(0).error().code, Code::not_found);
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
  EXPECT_EQ(store.size("link."), 0u);
}

// A store that is full keeps some of it.
TEST_F(Restarts, ASessionOfWhichALinkIsMissingDoesNotGoOn) {
  Program program("counters", {"1", "0", "100"});
  save("s");
  save("whole");
  set("s", "uprobe::f000*", process(program.pid()), "count");
  set("whole", "uprobe::f001*", process(program.pid()), "count");
  engine.reset();
  store.forget("link.1.0");
  open();
  std::vector<Returning> returning;
  for (const char* name : {"s", "whole"})
    returning.push_back({name,
                         {setting(name == std::string("s") ? "uprobe::f000*" : "uprobe::f001*",
                                  process(program.pid()), "count")},
                         std::nullopt,
                         std::nullopt});
  const auto answers = engine->go_on(std::move(returning));
  EXPECT_EQ(answers.at(0).error().code, Code::not_found);
  must(answers.at(1));
  EXPECT_EQ(changed_code(program.pid(), program.path()).size(), 10u);
}

TEST_F(Restarts, WhereNothingCanBeKeptNothingIsCommitted) {
  Program program("counters", {"1", "0", "100"});
  save("s");
  store.refuses = true;
  must(stage("s", "uprobe::f00*", process(program.pid()), "count"));
  EXPECT_EQ(engine->commit("s", {}).error().message, "the store is full");
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
  store.refuses = false;
  EXPECT_EQ(must(engine->commit("s", {})).sites, 100u);
}

}  // namespace
}  // namespace tracectl::on_kernel
