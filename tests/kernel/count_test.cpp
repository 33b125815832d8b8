// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

using Count = KernelTest;
using SpecSwitch = KernelTest;
using ReadClear = KernelTest;
using GoneIsGone = KernelTest;
using SessionIsolation = KernelTest;

std::map<std::string, uint64_t> by_function(const Results& results) {
  std::map<std::string, uint64_t> counts;
  for (const auto& [key, row] : results.rows) counts[function_of(key.probe)] += row.count;
  return counts;
}

std::string counter_name(size_t n) {
  std::string digits = std::to_string(n);
  return "f" + std::string(4 - digits.size(), '0') + digits;
}

// The count that the program reports for each function, by name.
std::map<std::string, uint64_t> own_counts(const nlohmann::json& said) {
  std::map<std::string, uint64_t> counts;
  for (size_t i = 0; i < said["counts"].size(); ++i) counts[counter_name(i)] = said["counts"][i];
  return counts;
}

TEST_F(Count, EveryFunctionCountsWhatTheProgramCounted) {
  Program program("counters", {"4", "100"});
  create("s");
  EXPECT_EQ(set("s", "uprobe::f[0-9]*", process(program.pid()), "count").probes, 2000u);
  const auto said = parsed(program.run());
  const auto results = read("s");
  EXPECT_EQ(by_function(results), own_counts(said));
  EXPECT_EQ(results.totals.hits, said["total"].get<uint64_t>());
  EXPECT_EQ(results.totals.dropped_keys, 0u);
}

// As rustc writes them, in both of its manglings.
TEST_F(Count, RustFunctionsAreNamedWithoutHashes) {
  const std::map<std::string, std::vector<uint64_t>> expected{
      {"u::demo::run", {1}},
      {"u::demo::*", {1, 3}},
      {"u::<demo::Pipe as core::fmt::Write>::fill", {2}},
      {"u::*::{{closure}}", {3}},
      {"u::mycrate::foo::bar", {4}}};
  for (const auto& [pattern, counts] : expected) {
    Program program("rust_names", {});
    create("s");
    set("s", pattern, process(program.pid()), "count");
    program.run();
    std::vector<uint64_t> found;
    for (const auto& [key, row] : read("s").rows) found.push_back(row.count);
    std::ranges::sort(found);
    EXPECT_EQ(found, counts) << pattern;
    must(engine->delete_session("s"));
  }
}

// Never at the resolver, which runs once.
TEST_F(Count, AFunctionThatIsChosenAtRunTimeCountsWhereverItIs) {
  Program program("chosen", {"5"});
  create("s");
  const auto set_up = set("s", "u::by_[ct]*", process(program.pid()), "count");
  EXPECT_EQ(set_up.probes, 2u);
  EXPECT_EQ(set_up.sites, 5u);
  ASSERT_EQ(set_up.notes.size(), 2u);
  EXPECT_TRUE(names(set_up.notes[0], "armed at all that it can be: "));
  for (const char* name : {"plain_one", "fast_one", "other_one"})
    EXPECT_TRUE(names(set_up.notes[0], name)) << set_up.notes[0];
  EXPECT_TRUE(names(set_up.notes[1], "table_a, table_b"));
  program.run();
  EXPECT_EQ(by_function(read("s")),
            (std::map<std::string, uint64_t>{{"by_code", 5}, {"by_table", 5}}));
}

TEST_F(Count, AFunctionThatIsChosenOutOfSightIsRefused) {
  Program program("chosen", {"1"});
  create("s");
  const auto summary = must(stage("s", "u::by_sum", process(program.pid()), "count"));
  EXPECT_EQ(summary.sites, 0u);
  ASSERT_EQ(summary.refused.size(), 1u);
  EXPECT_TRUE(names(summary.refused[0].reason, "does not show among which functions"));
  EXPECT_FALSE(engine->commits().commit("s", {}).has_value());
}

TEST_F(Count, ByThreadThereIsOneExactRowForEachThread) {
  Program program("counters", {"4", "50", "200"});
  create("s");
  set("s", "uprobe::f0[01]*", process(program.pid()), "count by tid");
  const auto said = parsed(program.run());
  std::map<std::string, std::vector<uint64_t>> rows;
  std::map<pid_t, uint64_t> threads;
  for (const auto& [key, row] : read("s").rows) {
    rows[function_of(key.probe)].push_back(row.count);
    threads[tid_of(key)] += row.count;
  }
  ASSERT_EQ(rows.size(), 200u);
  for (const auto& [name, counts] : rows) EXPECT_EQ(counts, std::vector<uint64_t>(4, 50)) << name;
  std::vector<uint64_t> of_threads;
  for (const auto& [tid, count] : threads) of_threads.push_back(count);
  EXPECT_EQ(of_threads, said["calls_per_thread"].get<std::vector<uint64_t>>());
}

TEST_F(Count, ByProcessTheRowNamesTheProcess) {
  Program program("counters", {"2", "100", "10"});
  create("s");
  set("s", "uprobe::f000*", process(program.pid()), "count by pid");
  const auto said = parsed(program.run());
  const auto results = read("s");
  EXPECT_EQ(results.rows.size(), 10u);
  for (const auto& [key, row] : results.rows) EXPECT_EQ(pid_of(key), program.pid());
  EXPECT_EQ(by_function(results), own_counts(said));
}

TEST_F(SpecSwitch, ReplacingASpecUnderLoadLosesAndDoublesNothing) {
  Program program("counters", {"2", "0", "100"});
  create("s");
  const auto target = process(program.pid());
  set("s", "uprobe::f00*", target, "count");
  program.send("go");
  for (int i = 0; i < 20; ++i) {
    set("s", "uprobe::f00*", target, i % 2 ? "count" : "count by tid");
    const uint64_t before = sum(read("s"));
    until([&] {
      return sum(read("s")) != before;
    });  // each spec gets hits before the next replaces it
  }
  program.send("stop");
  const auto said = parsed(program.finish());
  const auto results = read("s");
  EXPECT_EQ(sum(results), said["total"].get<uint64_t>());
  EXPECT_EQ(by_function(results), own_counts(said));
}

TEST_F(ReadClear, TheSumOfAllAnswersIsTheProgramsOwnTotal) {
  for (const char* action : {"count", "count by tid"}) {
    Program program("counters", {"2", "0", "100"});
    create("s");
    set("s", "uprobe::f00*", process(program.pid()), action);
    program.send("go");
    uint64_t total = 0;
    for (int i = 0; i < 50; ++i) total += sum(read("s", true));
    program.send("stop");
    const auto said = parsed(program.finish());
    EXPECT_GT(total, 0u);
    total += sum(read("s", true));
    EXPECT_EQ(total, said["total"].get<uint64_t>()) << action;
    EXPECT_EQ(sum(read("s")), 0u);
    must(engine->delete_session("s"));
  }
}

TEST_F(GoneIsGone, TheCodeIsTheFilesAgainWhenTheSessionIsDeleted) {
  Program program("counters", {"1", "0"});
  ASSERT_TRUE(changed_code(program.pid(), program.path()).empty());
  create("s");
  set("s", "uprobe::f[0-9]*", process(program.pid()), "count");
  program.send("go");
  until([&] {
    return sum(read("s")) >= 10'000;
  });  // hit, so that the kernel has replaced nops by calls
  EXPECT_GE(changed_code(program.pid(), program.path()).size(), 2000u);
  must(engine->delete_session("s"));
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
  program.send("stop");
  program.finish();
}

TEST_F(SessionIsolation, DeletingASessionLeavesTheOthersCountsExact) {
  Program program("counters", {"2", "0", "100"});
  const auto target = process(program.pid());
  create("stays");
  create("goes");
  set("stays", "uprobe::f00*", target, "count");
  set("goes", "uprobe::f00[3-9]*", target, "count by tid");
  program.send("go");
  until([&] { return sum(read("goes")) >= 1000; });
  must(engine->delete_session("goes"));
  const uint64_t then = sum(read("stays"));
  until([&] { return sum(read("stays")) != then; });
  program.send("stop");
  const auto said = parsed(program.finish());
  EXPECT_EQ(by_function(read("stays")), own_counts(said));
}

// Removing one of a link's sites replaces the link for those that stay.
TEST_F(SpecSwitch, TakingSitesOffLosesAndDoublesNoHitOfTheOthers) {
  constexpr size_t kAll = 60, kStay = 40;
  Program program("counters", {"2", "0", std::to_string(kAll)});
  create("s");
  std::vector<Setting> settings;
  for (size_t n = 0; n < kAll; ++n)
    settings.push_back(setting("uprobe::" + counter_name(n), process(program.pid()), "count"));
  must(engine->drafts().set("s", settings));
  must(engine->commits().commit("s", {}));
  program.send("go");
  until([&] { return sum(read("s")) > 10'000; });
  for (size_t n = kStay; n < settings.size(); ++n) {
    must(engine->drafts().remove("s", {settings[n].pattern}, std::nullopt));
    must(engine->commits().commit("s", {}));
  }
  program.send("stop");
  const auto expected = own_counts(parsed(program.finish()));
  const auto counted = by_function(read("s"));
  for (size_t n = 0; n < kStay; ++n)
    EXPECT_EQ(counted.at(counter_name(n)), expected.at(counter_name(n))) << n;
}

}  // namespace
}  // namespace tracectl::on_kernel
