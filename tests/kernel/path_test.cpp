// SPDX-License-Identifier: BSD-2-Clause
//
// Times of calls in graphs, summed up in the kernel by the calls around them.
#include <map>

#include "daemon/model/shares.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

// `main;query;parse`
std::string way_of(const CallPaths& paths, uint64_t number) {
  const CallPath& path = paths.at(number);
  const std::string function = path.probe.substr(path.probe.rfind(':') + 1);
  return path.around ? way_of(paths, path.around) + ';' + function : function;
}

uint64_t path_of(const RowKey& row) {
  return static_cast<uint64_t>(std::get<int64_t>(row.by.at(0).value));
}

using Calls = std::map<std::string, uint64_t>;  // by path; unwound ones in parentheses after it

class Paths : public KernelTest {
 protected:
  Results of(Program& program, const std::vector<std::string>& roots,
             const std::string& action = "graph, time by path") {
    create("s");
    for (const std::string& root : roots) must(stage("s", root, process(program.pid()), action));
    must(engine->commits().commit("s", {}));
    program.run();
    return read("s");
  }

  static Calls calls(const Results& results) {
    Calls calls;
    for (const auto& [key, row] : results.rows) {
      calls[way_of(results.paths, path_of(key))] = row.count;
      EXPECT_EQ(way_of(results.paths, path_of(key)).ends_with("deep_jump"), row.unwound > 0);
    }
    return calls;
  }
};

const Calls kLandedWays{{"deep_land", 1},
                        {"deep_land;deep", 1},
                        {"deep_land;deep_jump", 1},
                        {"deep_land;deep_jump;deep_jump", 1},
                        {"deep_land;deep_jump;deep_jump;deep_jump", 1}};

TEST_F(Paths, CountCallsByThoseAroundThem) {
  Program program("graph_deep", {"2"});
  EXPECT_EQ(calls(of(program, {"u::deep_land"})), kLandedWays);
}

TEST_F(Paths, OfSeveralRootsAreToldApart) {
  Program program("graph_deep", {"2", "3"});
  Calls expected{{"deep", 3}, {"deep;deep", 3}, {"deep;deep;deep", 3}};
  for (const auto& [way, count] : kLandedWays) expected[way] = 3 * count;
  EXPECT_EQ(calls(of(program, {"u::deep_land", "u::deep"})), expected);
}

TEST_F(Paths, HaveNoMoreLevelsThanAskedFor) {
  Program program("graph_deep", {"9"});
  EXPECT_EQ(calls(of(program, {"u::deep"}, "graph(2), time by path")),
            (Calls{{"deep", 2}, {"deep;deep", 1}}));
}

// Includes calls that ended by longjmp; otherwise the calls around them would lack some time.
TEST_F(Paths, OwnTimesAreTheTimeOfTheRoots) {
  Program program("graph_deep", {"20", "50"});
  const Results results = of(program, {"u::deep_land"});
  uint64_t own_ns = 0, roots_ns = 0;
  for (const auto& [key, row] : results.rows) {
    own_ns += row.self;
    if (results.paths.at(path_of(key)).around == 0) roots_ns += row.sum;
  }
  EXPECT_GT(roots_ns, 0u);
  EXPECT_EQ(own_ns, roots_ns);
}

TEST_F(Paths, StreamNothing) {
  Program program("graph_deep", {"20", "50"});
  of(program, {"u::deep_land"});
  const Totals totals = read("s").totals;
  EXPECT_EQ(totals.hits - totals.filtered, 50u * 23);
  EXPECT_EQ(totals.dropped_ring, 0u);
}

TEST_F(Paths, StayKnownWhenNobodyCountsByThemAnyMore) {
  Program program("graph_deep", {"2"});
  of(program, {"u::deep_land"});
  must(engine->drafts().remove("s", {must(parse_pattern("u::deep_land"))}, std::nullopt));
  set("s", "u::main", process(program.pid()), "event");
  create("other");
  set("other", "u::main", process(program.pid()), "count by comm");
  must(engine->delete_session("other"));
  EXPECT_EQ(calls(read("s")), kLandedWays);
}

TEST_F(Paths, WithoutRoomAreCountedAsDropped) {
  constexpr uint64_t kDepth = 10'000;
  const uint64_t room = Shares::of(TC_MAX_PATHS, Quota{}.most_users).most_of_root();
  ASSERT_TRUE(kDepth < room && 2 * kDepth > room);
  Program program("graph_deep", {std::to_string(kDepth)});
  for (const char* name : {"one", "two"}) {
    create(name);
    set(name, "u::deep", process(program.pid()), "graph, time by path");
  }
  program.run();
  uint64_t dropped = 0;
  for (const char* name : {"one", "two"}) {
    const Results results = read(name);
    EXPECT_EQ(results.totals.hits, kDepth + 2);
    EXPECT_EQ(sum(results) + results.totals.dropped_keys, kDepth + 2);
    dropped += results.totals.dropped_keys;
  }
  EXPECT_EQ(dropped, 2 * (kDepth + 1) - room);
}

TEST_F(Paths, AreKeysOfTheTimesOfGraphs) {
  for (const char* action :
       {"time by path", "count by path", "graph, count by path", "graph, time by path, tid",
        "graph, event(path)", "graph, time by path, time by path", "hist(path)"})
    EXPECT_FALSE(parse_spec(action)) << action;
  EXPECT_FALSE(parse_condition("path == 1"));
  EXPECT_FALSE(parse_keys("path"));
  EXPECT_EQ(to_string(must(parse_spec("time by path,graph( 3 )"))), "graph(3), time by path");
}

}  // namespace
}  // namespace tracectl::on_kernel
