// SPDX-License-Identifier: BSD-2-Clause
//
// Memory that is not present when a probe is hit (tests/targets/absent.cpp).
#include <filesystem>

#include "tests/support/collected.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

constexpr const char* kOfFile = "usdt::absent:file";

class AbsentMemory : public KernelTest {
 protected:
  ~AbsentMemory() override { std::filesystem::remove(kFile); }

  void begin(const std::string& session, const std::string& probe, const std::string& action,
             const std::string& when = "") {
    create(session);
    Setting set = setting(probe, process(program_.pid()), action);
    if (!when.empty()) set.spec.when = must(parse_condition(when));
    must(engine->drafts().set(session, {std::move(set)}));
    must(engine->commits().commit(session, {}));
  }
  std::shared_ptr<Collected> collect(const std::string& session, const std::string& probe,
                                     const std::string& action) {
    auto collected = std::make_shared<Collected>();
    begin(session, probe, action);
    must(engine->streams().subscribe(session, collected));
    return collected;
  }
  nlohmann::json run() {
    auto said = parsed(program_.run());
    EXPECT_EQ(said["wrong"], 0u);
    return said;
  }
  static std::string text(uint64_t n) { return "string " + std::to_string(n) + " of the file"; }

  const std::string kFile = test_folder() + "/absent-pages";
  Program program_{"absent", {kFile, "2", "8000"}};
};

// Also strings that continue in the next page.
TEST_F(AbsentMemory, OfAFileIsReadAllTheSame) {
  const auto events = collect("s", kOfFile, "event(str(arg0), arg1, hex(arg0, 12))");
  begin("when", kOfFile, "count", "str(arg0) == \"string 7 of the file\"");
  begin("byte", kOfFile, "sum(u64(arg0) & 0xff), count by str(arg0)");
  const uint64_t calls = run()["calls"];
  must(engine->streams().flush("s"));
  ASSERT_EQ(events->events().size(), calls);
  for (const Event& event : events->events()) {
    const uint64_t n = event.args.at(1).value();
    ASSERT_TRUE(event.args.at(0)) << n;
    ASSERT_EQ(event.strings.at(*event.args[0]), text(n));
    ASSERT_TRUE(event.args.at(2)) << n;
  }
  EXPECT_EQ(sum(read("when")), (calls / 2 - 8 + 64) / 64 * 2);
  uint64_t rows = 0;
  for (const auto& [key, row] : read("byte").rows) {
    rows += !key.by.empty();
    EXPECT_EQ(row.unread, 0u);
    EXPECT_TRUE(!key.by.empty() || row.sum == calls * 's') << row.sum;
    EXPECT_TRUE(key.by.empty() || std::holds_alternative<std::string>(key.by[0].value));
  }
  EXPECT_EQ(rows, 64u);
}

TEST_F(AbsentMemory, ThatNobodyHasTouchedIsAllZeroes) {
  const auto events = collect("s", "usdt::absent:fresh", "event(str(arg0), u32(arg0))");
  EXPECT_EQ(run()["brought"], 1);
  must(engine->streams().flush("s"));
  ASSERT_EQ(events->events().size(), 1u);
  const Event event = events->events()[0];
  EXPECT_EQ(event.args, (std::vector<Value>{0, 0}));
  EXPECT_EQ(event.strings, std::vector<std::string>{""});
}

// The traced program, or another, could keep the hit waiting for ever, and then also the removal of
// the probe.
TEST_F(AbsentMemory, ThatAnotherWouldHaveToBringIsNotWaitedFor) {
  const auto events = collect("s", "usdt::absent:held", "event(str(arg0), u8(arg0), hex(arg0, 4))");
  EXPECT_EQ(run()["asked"], 0u);
  must(engine->streams().flush("s"));
  ASSERT_EQ(events->events().size(), 1u);
  EXPECT_EQ(events->events()[0].args,
            (std::vector<Value>{std::nullopt, std::nullopt, std::nullopt}));
}

// Like kernels before 6.6.
TEST_F(AbsentMemory, IsNullWhereProgramsCannotSleep) {
  engine.reset();
  engine = must(Engine::start(must(Kernel::open({.sleeps = false})), EngineOptions{}));
  const auto events = collect("s", "usdt::absent:fresh", "event(str(arg0), u32(arg0))");
  EXPECT_EQ(run()["brought"], 0);
  must(engine->streams().flush("s"));
  ASSERT_EQ(events->events().size(), 1u);
  EXPECT_EQ(events->events()[0].args, (std::vector<Value>{std::nullopt, std::nullopt}));
}

// Hits that a condition refuses bring in no memory.
TEST_F(AbsentMemory, IsLeftAloneWhereTheHitIsNotTaken) {
  begin("s", "usdt::absent:fresh", "event(str(arg0))", "arg0 == 1");
  EXPECT_EQ(run()["brought"], 0);
  EXPECT_EQ(read("s").totals.filtered, 1u);
}

TEST_F(AbsentMemory, IsLeftAloneWhileTheSessionIsPaused) {
  begin("s", "usdt::absent:fresh", "event(str(arg0))");
  must(engine->gates().pause("s"));
  EXPECT_EQ(run()["brought"], 0);
}

// Specs that read memory alternate with one that does not, and so do the programs, while hits
// sleep.
TEST_F(AbsentMemory, SwitchedToOtherProgramsWhileHitsWaitForItLosesNothing) {
  const auto events = std::make_shared<Collected>();
  create("s");
  must(engine->streams().subscribe("s", events));
  set("s", kOfFile, process(program_.pid()), "event(str(arg0), arg1)");
  program_.send("go");
  for (int i = 0; i < 20; ++i)
    set("s", kOfFile, process(program_.pid()), i % 2 ? "event(str(arg0), arg1)" : "event(arg1)");
  const uint64_t calls = parsed(program_.finish())["calls"];
  must(engine->streams().flush("s"));
  ASSERT_EQ(events->events().size(), calls);
  for (const Event& event : events->events())
    EXPECT_EQ(event.strings, event.args.size() == 1 ? std::vector<std::string>{}
                                                    : std::vector{text(event.args[1].value())});
}

// The counts of each spec are final when the next is in force, although hits may sleep.
TEST_F(AbsentMemory, SwitchedOverWhileHitsWaitForItIsCountedOnce) {
  create("s");
  const char* const specs[] = {"count by str(arg0), sum(u8(arg0))",
                               "count by str(arg0), count by tid"};
  set("s", kOfFile, process(program_.pid()), specs[0]);
  program_.send("go");
  std::map<std::string, uint64_t> counted;
  const auto take = [&] {
    for (const auto& [key, row] : read("s", true).rows)
      if (!key.by.empty() && key.by[0].name == "str(arg0)")
        counted[std::get<std::string>(key.by[0].value)] += row.count;
  };
  for (int i = 0; i < 200; ++i) {
    set("s", kOfFile, process(program_.pid()), specs[i % 2]);
    if (i % 8 == 0) take();
  }
  const uint64_t calls = parsed(program_.finish())["calls"];
  take();
  uint64_t all = 0;
  for (const auto& [string, count] : counted) all += count;
  EXPECT_EQ(all, calls);
  EXPECT_EQ(counted.size(), 64u);
}

std::string all_strings() {
  std::string list;
  for (int i = 0; i < 12; ++i)
    list += std::string(i ? ", " : "") + "str(arg" + std::to_string(i) + ")";
  return list;
}

// A hit never waits to look up a mapping, however many pages it reads: a hundred such waits would
// be seconds, in which the program stops and no tracer can close a link.
TEST_F(KernelTest, HitsDoNotWaitForThreadsThatChangeTheMappings) {
  constexpr uint64_t kHits = 2;
  Program program("crowded", {"8", std::to_string(kHits)});
  const std::vector<std::string> sessions = {"a", "b", "c", "d", "e", "f", "g", "h"};
  for (const std::string& session : sessions) {
    create(session);
    set(session, "usdt::crowded:fire", process(program.pid()), "event(" + all_strings() + ")");
  }
  const auto said = parsed(program.run());
  EXPECT_LT(said["longest_ms"], 500);
  for (const std::string& session : sessions) EXPECT_EQ(read(session).totals.hits, kHits);
}

}  // namespace
}  // namespace tracectl::on_kernel
