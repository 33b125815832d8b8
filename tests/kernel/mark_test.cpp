// SPDX-License-Identifier: BSD-2-Clause
//
// Effects of a hit on later ones: tag(), silent and trigger(), compared with the traced program's
// own counts (tests/targets/rounds.cpp).
#include <map>

#include "tests/support/collected.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

class Marks : public KernelTest {
 protected:
  void stage_in(const std::string& session, const std::string& function, const std::string& action,
                const std::string& when = "") {
    Setting staged = setting("uprobe::" + function, process(program_.pid()), action);
    if (!when.empty()) staged.spec.when = must(parse_condition(when));
    must(engine->drafts().set(session, {std::move(staged)}));
  }
  void commit(const std::string& session) { must(engine->commits().commit(session, {})); }
  void begin(const std::string& session, const std::string& function, const std::string& action,
             const std::string& when = "") {
    create(session);
    stage_in(session, function, action, when);
    commit(session);
  }
  std::shared_ptr<Collected> watch(const std::string& session) {
    const auto collected = std::make_shared<Collected>();
    must(engine->streams().subscribe(session, collected));
    return collected;
  }
  void tag_requests(const std::string& session, const std::string& also = "") {
    stage_in(session, "slow", also + "tag(\"slow\")");
    stage_in(session, "fast", also + "tag(\"fast\")");
  }
  nlohmann::json run() { return parsed(program_.run()); }
  uint64_t taken(const std::string& session) { return sum(read(session)); }

  Program program_{"rounds", {"4", "3000"}};
};

using Tags = Marks;
using Silence = Marks;

std::map<std::string, uint64_t> by_tag(const Results& results) {
  std::map<std::string, uint64_t> counts;
  for (const auto& [key, row] : results.rows)
    if (!key.by.empty()) counts[std::get<std::string>(key.by.front().value)] += row.count;
  return counts;
}

uint64_t all_steps(const nlohmann::json& said) {
  return said["steps_before"].get<uint64_t>() + said["steps_slow"].get<uint64_t>() +
         said["steps_fast"].get<uint64_t>();
}

TEST_F(Tags, LaterHitsOfAThreadAreCountedByTheOneItHasThen) {
  create("s");
  tag_requests("s");
  stage_in("s", "step", "count by tag");
  commit("s");
  const auto said = run();
  EXPECT_EQ(by_tag(read("s")), (std::map<std::string, uint64_t>{{"", said["steps_before"]},
                                                                {"slow", said["steps_slow"]},
                                                                {"fast", said["steps_fast"]}}));
  EXPECT_EQ(engine->counting().marks_lost(*must(engine->sessions().find("s"))), 0u);
}

TEST_F(Tags, ConditionsSeeThem) {
  const std::map<std::string, std::vector<const char*>> truths{
      {"tag == \"slow\"", {"steps_slow"}},
      {"tag != \"slow\"", {"steps_before", "steps_fast"}},
      {"tag =~ \"*s*\"", {"steps_slow", "steps_fast"}},
      {"tag =~ \"f?st\" && arg0 >= 0", {"steps_fast"}},
      {"tag == \"\"", {"steps_before"}}};
  int sessions = 0;
  std::map<std::string, std::string> session_of;
  for (const auto& [when, names] : truths) {
    const std::string name = session_of[when] = "s" + std::to_string(sessions++);
    create(name);
    tag_requests(name);
    stage_in(name, "step", "count", when);
    commit(name);
  }
  const auto said = run();
  for (const auto& [when, names] : truths) {
    uint64_t truth = 0;
    for (const char* name : names) truth += said[name].get<uint64_t>();
    EXPECT_EQ(taken(session_of[when]), truth) << when;
  }
}

TEST_F(Tags, OfOneSessionAreNoneOfAnother) {
  create("tags");
  tag_requests("tags");
  stage_in("tags", "step", "count by tag");
  create("sees_none");
  stage_in("sees_none", "step", "count by tag");
  create("has_others");
  stage_in("has_others", "slow", "tag(\"slow\")");
  stage_in("has_others", "fast", "tag(\"other\")");
  stage_in("has_others", "step", "count by tag");
  for (const char* name : {"tags", "sees_none", "has_others"}) commit(name);
  const auto said = run();
  EXPECT_EQ(by_tag(read("sees_none")), (std::map<std::string, uint64_t>{{"", all_steps(said)}}));
  EXPECT_EQ(by_tag(read("tags"))["fast"], said["steps_fast"]);
  EXPECT_EQ(by_tag(read("has_others"))["other"], said["steps_fast"]);
}

// The event of a hit that sets a tag has the tag from before.
TEST_F(Tags, EventsBearTheOneThatTheirThreadHadBefore) {
  create("s");
  const auto collected = watch("s");
  tag_requests("s", "event, ");
  stage_in("s", "step", "event");
  commit("s");
  const auto said = run();
  must(engine->streams().flush("s"));
  std::map<pid_t, std::string> tags;
  std::map<std::string, uint64_t> steps;
  for (const Event& event : collected->events()) {
    std::string& tag = tags[event.tid];
    EXPECT_EQ(event.tag, tag);
    const std::string function = function_of(event.source->probe);
    if (function == "step")
      ++steps[tag];
    else
      tag = function;
  }
  EXPECT_EQ(steps["slow"], said["steps_slow"]);
  EXPECT_EQ(steps["fast"], said["steps_fast"]);
}

// If their condition is about the end of the call, tags are set at its end.
TEST_F(Tags, CanWaitForTheReturn) {
  create("s");
  stage_in("s", "slow", "tag(\"slow\")", "duration >= 0");
  stage_in("s", "fast", "tag(\"fast\")", "duration < 0");
  stage_in("s", "step", "count by tag");
  commit("s");
  const auto said = run();
  const auto counts = by_tag(read("s"));
  EXPECT_FALSE(counts.contains("fast"));
  EXPECT_GE(counts.at("slow"), said["steps_slow"].get<uint64_t>());
  EXPECT_EQ(counts.at("slow") + counts.at(""), all_steps(said));
}

TEST_F(Tags, AnEmptyOneIsNone) {
  create("s");
  stage_in("s", "slow", "tag(\"slow\")");
  stage_in("s", "fast", "tag(\"\")");
  stage_in("s", "step", "count by tag");
  commit("s");
  const auto said = run();
  const uint64_t untagged =
      said["steps_before"].get<uint64_t>() + said["steps_fast"].get<uint64_t>();
  EXPECT_EQ(by_tag(read("s")),
            (std::map<std::string, uint64_t>{{"", untagged}, {"slow", said["steps_slow"]}}));
}

// If the condition does not hold, nothing is done; the condition sees the tag from before the hit.
TEST_F(Tags, AConditionSeesTheOneFromBeforeItsOwnHit) {
  create("s");
  stage_in("s", "step", "count, tag(\"stepped\")", "tag == \"\"");
  commit("s");
  run();
  EXPECT_EQ(taken("s"), 4u);  // the first of each thread
}

TEST_F(Silence, StreamsNothingAndGoesOnCounting) {
  create("s");
  const auto collected = watch("s");
  stage_in("s", "slow", "event, silent");
  stage_in("s", "fast", "event, silent(off)");
  stage_in("s", "step", "event, count by tid");
  commit("s");
  const auto said = run();
  must(engine->streams().flush("s"));
  std::map<std::string, uint64_t> events;
  for (const Event& event : collected->events()) ++events[function_of(event.source->probe)];
  EXPECT_EQ(events["step"],
            said["steps_before"].get<uint64_t>() + said["steps_fast"].get<uint64_t>());
  EXPECT_EQ(events["slow"], 0u);
  EXPECT_EQ(events["fast"], said["fast"].get<uint64_t>());
  const Results results = read("s");
  EXPECT_EQ(sum(results), all_steps(said));
  EXPECT_EQ(results.totals.silenced,
            said["steps_slow"].get<uint64_t>() + said["slow"].get<uint64_t>());
  EXPECT_EQ(results.totals.hits, collected->events().size() + results.totals.filtered +
                                     results.totals.silenced + results.totals.dropped_ring);
}

TEST_F(Silence, IsOfOneSession) {
  create("s");
  stage_in("s", "begin_round", "silent");
  commit("s");
  create("other");
  const auto collected = watch("other");
  stage_in("other", "step", "event");
  commit("other");
  const auto said = run();
  must(engine->streams().flush("other"));
  EXPECT_EQ(collected->events().size(), all_steps(said));
}

// After a restart of the session its threads have no marks, although they still run.
TEST_F(Silence, EndsWithARestart) {
  Program program("counters", {"2", "0", "2"});
  create("s");
  const auto collected = watch("s");
  const auto stage_of = [&](const char* function, const char* action) {
    must(stage("s", std::string("uprobe::") + function, process(program.pid()), action));
  };
  stage_of("f0000", "silent");
  stage_of("f0001", "event");
  must(engine->commits().commit("s", {}));
  program.send("go");
  until([&] { return read("s").totals.silenced > 100; });
  stage_of("f0000", "count");
  must(engine->commits().commit("s", {}));
  const uint64_t then = read("s").totals.silenced;
  until([&] { return read("s").totals.silenced > then + 100; });
  const size_t before = collected->count();
  must(engine->counting().restart("s"));
  until([&] { return collected->count() > before + 100; });
  EXPECT_EQ(read("s").totals.silenced, 0u);
  program.send("stop");
  program.finish();
}

// The number of an ended session is used for the next one.
TEST_F(Silence, EndsWithItsSession) {
  Program program("counters", {"1", "0", "2"});
  create("first");
  must(stage("first", "uprobe::f0000", process(program.pid()), "silent, tag(\"x\")"));
  must(stage("first", "uprobe::f0001", process(program.pid()), "event, count by tag"));
  must(engine->commits().commit("first", {}));
  program.send("go");
  until([&] { return read("first").totals.silenced > 100; });
  const SessionId id = must(engine->sessions().find("first"))->id;
  must(engine->delete_session("first"));
  create("next");
  ASSERT_EQ(must(engine->sessions().find("next"))->id, id);
  // It also marks threads, but none of these.
  Setting never = setting("uprobe::f0000", process(program.pid()), "tag(\"y\")");
  never.spec.when = must(parse_condition("arg1 == 99"));
  must(engine->drafts().set("next", {std::move(never)}));
  must(stage("next", "uprobe::f0001", process(program.pid()), "event, count by tag"));
  must(engine->commits().commit("next", {}));
  until([&] { return by_tag(read("next"))[""] > 100; });
  EXPECT_EQ(read("next").totals.silenced, 0u);
  EXPECT_EQ(by_tag(read("next")).size(), 1u);
  program.send("stop");
  program.finish();
}

// ---- trigger ----

// One thread, so that the calls after a hit are known; watched counts its steps.
class Triggers : public Marks {
 protected:
  void SetUp() override {
    Marks::SetUp();
    if (IsSkipped()) return;
    create("watched");
    must(engine->gates().pause("watched"));
    stage_in("watched", "step", "count");
    commit("watched");
  }
  nlohmann::json run_one() { return parsed(one_.run()); }
  void begin_one(const std::string& session, const std::string& action, const std::string& when) {
    create(session);
    Setting staged = setting("uprobe::begin_round", process(one_.pid()), action);
    staged.spec.when = must(parse_condition(when));
    must(engine->drafts().set(session, {std::move(staged)}));
    commit(session);
  }
  void watch_one() {
    stage_in("watched", "step", "count");
    must(engine->drafts().remove("watched", {must(parse_pattern("uprobe::step"))}, std::nullopt));
    must(stage("watched", "uprobe::step", process(one_.pid()), "count"));
    commit("watched");
  }
  bool is_paused() { return engine->gates().is_paused(*must(engine->sessions().find("watched"))); }

  Program one_{"rounds", {"1", "1000"}};
};

uint64_t steps_in_rounds(const nlohmann::json& said, size_t from, size_t to) {
  const auto& all = said["steps_by_round"];
  uint64_t steps = 0;
  for (size_t n = from; n < to; ++n) steps += all[n].get<uint64_t>();
  return steps;
}

TEST_F(Triggers, LetAPausedSessionSpeakFromTheHitOn) {
  watch_one();
  begin_one("w", "trigger(watched)", "arg0 == 300");
  EXPECT_TRUE(is_paused());
  const auto said = run_one();
  EXPECT_EQ(taken("watched"), steps_in_rounds(said, 300, 1000));
  EXPECT_EQ(read("watched").totals.hits, steps_in_rounds(said, 300, 1000));
  EXPECT_FALSE(is_paused());
}

TEST_F(Triggers, SilenceASessionAgain) {
  watch_one();
  begin_one("on", "trigger(watched)", "arg0 == 300 || arg0 == 700");
  begin_one("off", "trigger(watched, off)", "arg0 == 500 || arg0 == 900");
  const auto said = run_one();
  EXPECT_EQ(taken("watched"), steps_in_rounds(said, 300, 500) + steps_in_rounds(said, 700, 900));
  EXPECT_TRUE(is_paused());
  EXPECT_EQ(engine->gates().triggered_by(*must(engine->sessions().find("watched"))),
            (std::vector<std::string>{"off", "on"}));
}

TEST_F(Triggers, CanSilenceASessionThatWasNotPaused) {
  watch_one();
  must(engine->gates().resume("watched"));
  begin_one("off", "trigger(watched, off)", "arg0 == 400");
  EXPECT_FALSE(is_paused());
  const auto said = run_one();
  EXPECT_EQ(taken("watched"), said["steps_before"].get<uint64_t>() + steps_in_rounds(said, 0, 400));
}

// An unbroken suffix of every thread's steps is counted: the number of the last step is known.
TEST_F(Triggers, CountAnUnbrokenSuffixOfEveryThread) {
  stage_in("watched", "step", "count by tid, max(arg0) by tid, min(arg0) by tid");
  commit("watched");
  create("all");
  stage_in("all", "step", "max(arg0) by tid");
  commit("all");
  begin("w", "begin_round", "trigger(watched)", "arg0 == 1000");
  run();
  std::map<pid_t, uint64_t> last;
  for (const auto& [key, row] : read("all").rows) last[tid_of(key)] = row.max;
  size_t threads = 0, begun_before = 0;
  for (const auto& [key, row] : read("watched").rows) {
    if (key.aggregate == "count") continue;
    EXPECT_EQ(row.max, last.at(tid_of(key)));
    EXPECT_EQ(row.max - row.min + 1, row.count);
    begun_before += row.min > 0;
    ++threads;
  }
  EXPECT_EQ(threads, 4u);
  EXPECT_GE(begun_before, 1u);  // the triggering one
}

TEST_F(Triggers, PauseAndResumeMoveTheGateOfATriggeredSession) {
  watch_one();
  begin_one("w", "trigger(watched)", "arg0 == 100000");
  EXPECT_EQ(must(engine->gates().resume("watched")).sessions, 1u);
  EXPECT_FALSE(is_paused());
  EXPECT_EQ(must(engine->gates().resume("watched")).sessions, 0u);
  EXPECT_EQ(must(engine->gates().pause(std::nullopt)).sessions, 2u);
  EXPECT_TRUE(is_paused());
  must(engine->gates().resume(std::nullopt));
  const auto said = run_one();
  EXPECT_EQ(taken("watched"), all_steps(said));
}

// The session stays in the state in which the last such setting left it, and can be paused like
// others.
TEST_F(Triggers, ThatEndLeaveASessionAsTheyFoundIt) {
  watch_one();
  begin_one("w", "trigger(watched)", "arg0 == 100000");
  must(engine->delete_session("w"));
  EXPECT_TRUE(is_paused());
  EXPECT_FALSE(must(engine->sessions().find("watched"))->gated);
  begin_one("w", "trigger(watched)", "arg0 == 100000");
  must(engine->gates().resume("watched"));
  must(engine->delete_session("w"));
  EXPECT_FALSE(is_paused());
  const auto said = run_one();
  EXPECT_EQ(taken("watched"), all_steps(said));
}

TEST_F(Triggers, WhatIsCommittedMeanwhileIsBehindTheGate) {
  begin_one("w", "trigger(watched)", "arg0 == 300");
  watch_one();
  const auto said = run_one();
  EXPECT_EQ(taken("watched"), steps_in_rounds(said, 300, 1000));
}

TEST_F(Triggers, NameSessionsThatAreThere) {
  create("w");
  const auto missing = stage("w", "uprobe::begin_round", process(one_.pid()), "trigger(nobody)");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("\"nobody\""), std::string::npos);
  const std::string unnamed = must(engine->create_session(""))->name;
  EXPECT_FALSE(
      stage("w", "uprobe::begin_round", process(one_.pid()), "trigger(\"" + unnamed + "\")"));
  begin_one("other", "trigger(watched)", "arg0 == 1");
  const auto deleted = engine->delete_session("watched");
  ASSERT_FALSE(deleted);
  EXPECT_NE(deleted.error().message.find("triggered by session \"other\""), std::string::npos);
  must(engine->delete_session("other"));
  must(engine->delete_session("watched"));
}

}  // namespace
}  // namespace tracectl::on_kernel
