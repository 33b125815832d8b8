// SPDX-License-Identifier: BSD-2-Clause
//
// Restarts of saved sessions with more than plain settings: graphs, tags, triggers, libraries, sets
// of processes.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/collected.h"
#include "tests/support/graph_trees.h"
#include "tests/support/restarts.h"

namespace tracectl::on_kernel {
namespace {

class RestartsOf : public RestartTest {};

TEST_F(RestartsOf, CallsOfGraphsHaveTheirWays) {
  save("s");
  set("s", "u::deep_land", running(target_path("graph_deep")), "graph, time by path");
  run_three_times([] { Program("graph_deep", {"2"}).run(); });
  restart();
  set("s", "u::main", running(target_path("forker")), "count");
  restart();  // no setting counts by path any more
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

// The records of calls during the restart wait in the rings.
TEST_F(RestartsOf, GraphsAreWhole) {
  save("s");
  const Target deep = running(target_path("graph_deep"));
  set("s", "u::deep_land", deep, "graph");
  const auto run = [] { Program("graph_deep", {"40"}).run(); };
  const auto text = [&](const std::shared_ptr<Collected>& collected) {
    must(engine->streams().flush("s"));
    Trees trees;
    for (const Event& event : collected->events()) trees.add(event);
    return trees.text();
  };
  auto collected = std::make_shared<Collected>();
  must(engine->streams().subscribe("s", collected));
  run();
  const std::string before = text(collected);
  EXPECT_TRUE(before.starts_with("deep_land(deep_jump(deep_jump(")) << before;
  close();
  run();
  go_on();
  collected = std::make_shared<Collected>();
  must(engine->streams().subscribe("s", collected));
  run();
  EXPECT_EQ(text(collected), before + before);
  must(engine->delete_session("s"));
  EXPECT_EQ(store.size("link."), 0u);
}

// A program's own tags, and those that a session gives to threads.
TEST_F(RestartsOf, TagsAreSeen) {
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

TEST_F(RestartsOf, SessionsAreTriggeredByOthers) {
  Program program("rounds", {"1", "1000"});
  for (const char* session : {"watched", "w"}) save(session);
  set("watched", "uprobe::step", process(program.pid()), "count");
  must(engine->gates().pause("watched"));
  const auto trigger_at = [&](const char* session, const char* when, const char* action) {
    Setting one = setting("uprobe::begin_round", process(program.pid()), action);
    one.spec.when = must(parse_condition(when));
    must(engine->drafts().set(session, {std::move(one)}));
    must(engine->commits().commit(session, {}));
  };
  trigger_at("w", "arg0 == 300", "trigger(watched)");
  restart();
  const auto is_paused = [&] {
    return engine->gates().is_paused(*must(engine->sessions().find("watched")));
  };
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

// It would trigger the next session with the number of the one that is gone.
TEST_F(RestartsOf, ASessionWhoseTriggeredOneDoesNotGoOnBeginsAnew) {
  Program program("rounds", {"1", "1000"});
  save("w");
  save("watched");
  set("watched", "uprobe::step", process(program.pid()), "count");
  set("w", "uprobe::begin_round", process(program.pid()), "trigger(watched)");
  const std::vector<Setting> settings = must(engine->sessions().find("w"))->settings;
  engine.reset();
  open();
  const auto answers = engine->restore({{"w", settings, std::nullopt, std::nullopt, 0}});
  EXPECT_EQ(answers.at(0).error().code, Code::not_found);
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
}

// Like after a daemon was killed between its switch and the client's note of it.
TEST_F(RestartsOf, OtherSettingsThanThoseInForceDoNotGoOn) {
  Program program("counters", {"1", "0", "100"});
  save("s");
  set("s", "uprobe::f00*", process(program.pid()), "count");
  const std::vector<Setting> before = must(engine->sessions().find("s"))->settings;
  set("s", "uprobe::f00*", process(program.pid()), "count by tid");
  engine.reset();
  open();
  const auto answers = engine->restore({{"s", before, std::nullopt, std::nullopt, 0}});
  EXPECT_EQ(answers.at(0).error().code, Code::invalid);
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
}

// ---- events after a restart ----

TEST_F(RestartsOf, ALibraryThatWasClosedIsTracedFromItsFirstCall) {
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
  engine->notices().take();
  engine->following().follow();
  for (int i = 0; i < 2; ++i) {
    restart();
    tell("open " + library);
    tell("call 20");
    tell("close");
    until([&] {
      engine->notices().take();
      engine->following().follow();
      return engine->following().next_ns() == 0;
    });
  }
  EXPECT_EQ(sum(read("s")), 47u);
}

// Its number is given to the next set: a process that executes the file would belong to that set.
TEST_F(RestartsOf, ASetOfProcessesThatWasNotSavedIsEnded) {
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

}  // namespace
}  // namespace tracectl::on_kernel
