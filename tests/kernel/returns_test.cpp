// SPDX-License-Identifier: BSD-2-Clause
//
// Returns, compared with a program that leaves its functions in all possible ways and counts them
// (tests/targets/calls.cpp). Its results must be the same as without tracing.
#include <map>

#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

constexpr const char* kRounds = "300";

class ReturnsTest : public KernelTest {
 protected:
  void begin(const std::string& session, const std::string& functions, const std::string& action,
             const std::string& when = "", Returns returns = Returns::automatic) {
    create(session);
    Setting set = setting("u::" + functions, process(program_.pid()), action);
    set.returns = returns;
    if (!when.empty()) set.spec.when = must(parse_condition(when));
    must(engine->drafts().set(session, {std::move(set)}));
    must(engine->commits().commit(session, {}));
  }

  std::map<std::string, Row> rows(const std::string& session) {
    std::map<std::string, Row> rows;
    for (const auto& [key, row] : read(session).rows) rows[function_of(key.probe)] = row;
    return rows;
  }

  Program program_{"calls", {kRounds}};
};

using Returned = ReturnsTest;

nlohmann::json untraced() {
  Program program("calls", {kRounds});
  return parsed(program.run());
}

// Returns of frames that were moved to another stack are ignored.
bool is_moved(const std::string& function) {
  return function == "calls_moved" || function == "calls_mover";
}

TEST_F(Returned, EveryCallIsAReturnOrUnwoundAsTheProgramCountsThem) {
  begin("s", "calls_*", "time");
  const auto said = parsed(program_.run());
  program_.send("exit");
  program_.wait_for_end();
  EXPECT_EQ(said["checksum"], untraced()["checksum"]);
  const auto found = rows("s");
  for (const auto& [function, truth] : said["functions"].items()) {
    const Row row = found.contains(function) ? found.at(function) : Row{};
    if (is_moved(function)) {
      EXPECT_EQ(row.count, 0u) << function;
      EXPECT_LE(row.unwound, truth["calls"].get<uint64_t>()) << function;
      continue;
    }
    EXPECT_EQ(row.count, truth["returns"].get<uint64_t>()) << function;
    EXPECT_EQ(row.unwound, truth["unwound"].get<uint64_t>()) << function;
  }
  EXPECT_EQ(read("s").totals.cut, 0u);
}

// Calls in coroutines overlap: none of them contains the others.
TEST_F(Returned, NoFunctionTakesLongerItselfThanItsCallsTogether) {
  begin("s", "calls_*", "time");
  (void)program_.run();
  for (const auto& [function, row] : rows("s")) EXPECT_LE(row.self, row.sum) << function;
}

TEST_F(Returned, TimesLieBetweenTheClocksWithinAndAround) {
  begin("s", "calls_[pc]*", "time");
  const auto said = parsed(program_.run());
  const auto found = rows("s");
  for (const char* function : {"calls_parent", "calls_child"}) {
    const Row& row = found.at(function);
    EXPECT_EQ(row.count, 20u);
    const uint64_t passed_ns = row.sum + row.probes;
    EXPECT_GE(passed_ns, said["times"][function][0].get<uint64_t>()) << function;
    EXPECT_LE(passed_ns, said["times"][function][1].get<uint64_t>()) << function;
    EXPECT_LE(row.min * row.count, row.sum);
    EXPECT_GE(row.max * row.count, row.sum);
    uint64_t in_buckets = 0;
    for (const auto& [number, count] : row.buckets) in_buckets += count;
    EXPECT_EQ(in_buckets, row.count);
  }
  EXPECT_EQ(found.at("calls_child").self, found.at("calls_child").sum);
  EXPECT_EQ(found.at("calls_parent").self + found.at("calls_child").sum,
            found.at("calls_parent").sum);
}

TEST_F(Returned, ConditionsAndKeysKnowTheResultAndTheArguments) {
  begin("negative", "calls_leaf", "count", "retval < 0");
  begin("sum", "calls_leaf", "sum(retval - arg.a * 2), count by retval < arg.a");
  const auto said = parsed(program_.run());
  const uint64_t calls = said["functions"]["calls_leaf"]["calls"];
  EXPECT_EQ(sum(read("negative")), 2u * 2);  // a * 2 - 3 for 0 and 1, on two threads
  EXPECT_EQ(read("negative").totals.filtered, calls - 4);
  std::map<std::string, Row> by;
  for (const auto& [key, row] : read("sum").rows)
    by[key.by.empty() ? "" : std::to_string(std::get<int64_t>(key.by[0].value))] = row;
  EXPECT_EQ(static_cast<int64_t>(by[""].sum), -3 * static_cast<int64_t>(calls));
  EXPECT_EQ(by["1"].count, 2u * 3);  // 2a - 3 < a for 0, 1 and 2
  EXPECT_EQ(by["0"].count, calls - 6);
}

TEST_F(Returned, ATrampolineSeesWhatExitsSee) {
  begin("exits", "calls_recurse", "time", "", Returns::exits);
  begin("leaf", "calls_leaf", "time", "", Returns::trampoline);
  begin("both", "calls_leaf", "time", "", Returns::exits);
  const auto said = parsed(program_.run());
  EXPECT_EQ(rows("exits").at("calls_recurse").count,
            said["functions"]["calls_recurse"]["returns"].get<uint64_t>());
  EXPECT_EQ(rows("leaf").at("calls_leaf").count,
            said["functions"]["calls_leaf"]["returns"].get<uint64_t>());
  EXPECT_EQ(rows("both").at("calls_leaf").count,
            said["functions"]["calls_leaf"]["returns"].get<uint64_t>());
}

// The sites change from one way to the other and back while they are hit.
TEST_F(Returned, ASpecThatFollowsCallsReplacesOneThatDoesNotWithoutASeam) {
  begin("s", "calls_*", "count");
  program_.send("go");
  for (int i = 0; i < 20; ++i) {
    set("s", "u::calls_*", process(program_.pid()), i % 2 ? "count" : "count, time");
  }
  const auto said = parsed(program_.finish());
  std::map<std::string, uint64_t> counts;
  for (const auto& [key, row] : read("s").rows)
    if (key.aggregate == "count") counts[function_of(key.probe)] += row.count;
  for (const auto& [function, truth] : said["functions"].items())
    EXPECT_EQ(counts[function], truth["calls"].get<uint64_t>()) << function;
}

TEST_F(Returned, OfFunctionsThatBeginWithA5ByteNopAreSeenEachWay) {
  for (const Returns way : {Returns::exits, Returns::trampoline}) {
    Program program("counters", {"2", "50", "10"});
    create("s");
    Setting set = setting("u::f000*", process(program.pid()), "time");
    set.returns = way;
    must(engine->drafts().set("s", {std::move(set)}));
    must(engine->commits().commit("s", {}));
    const auto said = parsed(program.run());
    EXPECT_EQ(sum(read("s")), said["total"].get<uint64_t>());
    must(engine->delete_session("s"));
  }
}

TEST_F(Returned, AProbeOfNoFunctionIsRefused) {
  create("s");
  const auto staged = stage("s", "U::calls:none", process(program_.pid()), "time");
  ASSERT_FALSE(staged);
  EXPECT_NE(staged.error().message.find("is no function"), std::string::npos);
}

// By each way that is possible for functions through which exceptions pass, while two threads
// throw.
TEST(Thrown, AMillionExceptionsThroughTracedFramesAreWhatTheProgramCounts) {
  constexpr uint64_t kTimes = 667'000;  // for each thread; three in four throw
  const auto wanted = [](uint64_t times) {
    Program untraced("throws", {std::to_string(times)});
    return parsed(untraced.run());
  }(kTimes);
  ASSERT_GE(wanted["thrown"].get<uint64_t>(), 1'000'000u);

  auto engine = must(Engine::start(must(Kernel::open()), {}));
  Program program("throws", {std::to_string(kTimes)});
  must(engine->create_session("s"));
  must(engine->drafts().set("s", {{must(parse_pattern("u::throws_*")), process(program.pid()),
                                   must(parse_spec("time"))}}));
  must(engine->commits().commit("s", {}));
  const auto said = parsed(program.run());
  program.send("exit");
  program.wait_for_end();
  EXPECT_EQ(said, wanted);
  const auto results = must(engine->counting().read("s", false)).results;
  EXPECT_EQ(results.totals.cut, 0u);
  ASSERT_EQ(results.rows.size(), 2u);  // throws_inner.cold is a part of one
  for (const auto& [key, row] : results.rows) {
    EXPECT_EQ(row.count, said["returned"].get<uint64_t>()) << key.probe;
    EXPECT_EQ(row.unwound, said["thrown"].get<uint64_t>()) << key.probe;
  }
}

}  // namespace
}  // namespace tracectl::on_kernel
