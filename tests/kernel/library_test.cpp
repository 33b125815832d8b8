// SPDX-License-Identifier: BSD-2-Clause
//
// Libraries that programs load after the commit that chose them (tests/targets/loads.c).
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "daemon/base/clock.h"
#include "daemon/process/linker.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

const std::string kWork = "uprobe:loads_library*:loads_work";

class Libraries : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (::geteuid() != 0) return;
    start(EngineOptions{.awaits_libraries = true});
    folder_ = std::filesystem::temp_directory_path() / ("libraries-" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
    put(library_);
    create("s");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Replaces it like an upgrade.
  static void put(const std::string& path) {
    std::filesystem::copy_file(target_path("loads_library"), path + ".new");
    std::filesystem::rename(path + ".new", path);
  }
  static void tell(Program& program, const std::string& line) {
    program.send(line);
    program.finish();
  }
  static Target running(const std::string& path) {
    Target target;
    target.executables = {path};
    return target;
  }
  const Session& session() { return *must(engine->sessions().find("s")); }
  // Does the same as the daemon's loop, until that many files were armed later.
  void follow(size_t files) {
    until([&] {
      look();
      return session().followed.size() >= files;
    });
    ASSERT_EQ(session().followed.size(), files);
  }
  void look() {
    engine->notices().take();
    engine->following().follow();
  }
  void follow_until_idle() {
    until([&] {
      look();
      return engine->following().next_ns() == 0;
    });
  }
  std::map<pid_t, uint64_t> counts() {
    std::map<pid_t, uint64_t> by_pid;
    for (const auto& [key, row] : read("s").rows) by_pid[pid_of(key)] += row.count;
    return by_pid;
  }
  static std::string linker_of(const Program& program) {
    return must(dynamic_linker(must(Process::open(program.pid())))).value().path;
  }

  std::filesystem::path folder_;
  std::string library_ = std::filesystem::temp_directory_path() /
                         ("libraries-" + std::to_string(::getpid())) / "loads_library.so";
};

TEST_F(Libraries, AreTracedInAProcessThatLoadsThemLater) {
  Program program("loads", {}), other("loads", {});
  set("s", kWork, process(program.pid()), "count by pid");
  EXPECT_EQ(session().hooks.size(), 0u);
  const uint64_t before_ns = boot_ns();
  for (Program* one : {&program, &other}) tell(*one, "open " + library_);
  tell(program, "call 7");
  const uint64_t called_ns = boot_ns();
  follow(1);
  const Followed& followed = session().followed.front();
  EXPECT_EQ(followed.path, library_);
  EXPECT_EQ(followed.pid, program.pid());
  EXPECT_GE(followed.ts_ns, before_ns);
  EXPECT_LE(followed.ts_ns, called_ns);
  EXPECT_GE(followed.ts_ns + followed.unobserved_ns, called_ns);
  EXPECT_LE(followed.ts_ns + followed.unobserved_ns, boot_ns());
  for (Program* one : {&program, &other}) tell(*one, "call 100");
  EXPECT_EQ(counts(), (std::map<pid_t, uint64_t>{{program.pid(), 100}}));
}

TEST_F(Libraries, AreTracedAtTheirUsdtProbes) {
  Program program("loads", {});
  set("s", "usdt:loads_library*:loads:worked", process(program.pid()), "count by pid");
  tell(program, "open " + library_);
  follow(1);
  tell(program, "call 30");
  EXPECT_EQ(counts(), (std::map<pid_t, uint64_t>{{program.pid(), 30}}));
}

TEST_F(Libraries, OnlyTheLinkerOfTheProcessItselfIsArmed) {
  Program program("loads", {}), other("loads", {});
  const std::string linker = linker_of(program);
  set("s", kWork, process(program.pid()), "count");
  EXPECT_FALSE(changed_code(program.pid(), linker).empty());
  EXPECT_TRUE(changed_code(other.pid(), linker).empty());
  EXPECT_TRUE(changed_code(::getpid(), linker).empty());
  Program later("loads", {});
  tell(later, "open " + library_);
  EXPECT_TRUE(changed_code(later.pid(), linker).empty());
  must(engine->delete_session("s"));
  EXPECT_TRUE(changed_code(program.pid(), linker).empty());
  tell(program, "open " + library_);
  EXPECT_TRUE(engine->notices().take().empty());
  EXPECT_EQ(engine->following().next_ns(), 0u);
}

TEST_F(Libraries, AreNotAwaitedWhereThePatternNamesNone) {
  Program program("loads", {});
  tell(program, "open " + library_);
  const std::string linker = linker_of(program);
  for (const std::string& pattern : {std::string("uprobe::main"), std::string("uprobe:loads:main"),
                                     "uprobe:" + library_ + ":loads_work"})
    set("s", pattern, process(program.pid()), "count");
  EXPECT_TRUE(changed_code(program.pid(), linker).empty());
  EXPECT_EQ(session().hooks.size(), 2u);
  set("s", "uprobe:loads*:main", process(program.pid()), "count");
  EXPECT_FALSE(changed_code(program.pid(), linker).empty());
}

TEST_F(Libraries, ThatDoNotFitChangeNothing) {
  Program program("loads", {});
  set("s", kWork, process(program.pid()), "count");
  follow_until_idle();
  const uint64_t epoch = engine->kernel().switching().epoch();
  tell(program, "open " + target_path("grow_plugin"));
  until([&] {
    engine->notices().take();
    return engine->following().next_ns() != 0;
  });
  follow_until_idle();
  EXPECT_EQ(engine->kernel().switching().epoch(), epoch);
  tell(program, "open " + library_);
  follow(1);
  EXPECT_GT(engine->kernel().switching().epoch(), epoch);
}

TEST_F(Libraries, OfProgramsThatBeginLaterAreTraced) {
  const std::string path = target_path("loads");
  set("s", kWork, running(path), "count by pid");
  std::map<pid_t, uint64_t> expected;
  std::vector<std::unique_ptr<Program>> programs;
  for (size_t i = 1; i <= 3; ++i) {
    auto& program =
        *programs.emplace_back(std::make_unique<Program>("loads", std::vector<std::string>{}));
    tell(program, "open " + library_);
    follow(i);
    EXPECT_EQ(session().followed.back().pid, program.pid());
    tell(program, "call 40");
    expected[program.pid()] = 40;
  }
  EXPECT_EQ(counts(), expected);
}

TEST_F(Libraries, ThatProgramsHaveFromTheirStartAreTracedThere) {
  set("s", "uprobe:libc.so*:getppid", running(target_path("loads")), "count by pid");
  Program program("loads", {});
  Program other("hot", {});
  follow(1);
  const Followed& followed = session().followed.front();
  EXPECT_EQ(followed.pid, program.pid());
  EXPECT_LT(followed.unobserved_ns, 60'000'000'000u);
  tell(program, "getppid 25");
  EXPECT_EQ(counts(), (std::map<pid_t, uint64_t>{{program.pid(), 25}}));
  EXPECT_TRUE(changed_code(other.pid(), followed.path).empty());
}

TEST_F(Libraries, OfChildrenOfAProgramAreTraced) {
  Program program("loads", {});
  tell(program, "open " + library_);
  set("s", kWork, running(program.path()), "count by pid");
  follow_until_idle();
  program.send("fork");
  const pid_t child = parsed(program.finish())["pid"];
  follow(1);
  EXPECT_EQ(session().followed.front().pid, child);
  tell(program, "call 70");
  EXPECT_EQ(counts(), (std::map<pid_t, uint64_t>{{child, 70}}));
}

TEST_F(Libraries, ThatAreLoadedAgainAreTracedFromTheirFirstInstruction) {
  Program program("loads", {});
  set("s", kWork, process(program.pid()), "count");
  tell(program, "open " + library_);
  follow(1);
  tell(program, "close");
  follow_until_idle();
  const uint64_t epoch = engine->kernel().switching().epoch();
  tell(program, "loop " + library_ + " 50");
  EXPECT_EQ(sum(read("s")), 50u);
  follow_until_idle();
  tell(program, "open " + library_);
  tell(program, "call 20");
  follow_until_idle();
  EXPECT_EQ(sum(read("s")), 70u);
  EXPECT_EQ(engine->kernel().switching().epoch(), epoch);
  EXPECT_EQ(session().followed.size(), 1u);
}

TEST_F(Libraries, ThatWereReplacedAreAnother) {
  Program program("loads", {});
  set("s", kWork, process(program.pid()), "count");
  tell(program, "open " + library_);
  follow(1);
  tell(program, "close");
  put(library_);
  tell(program, "open " + library_);
  follow(2);
  EXPECT_EQ(session().followed.back().path, library_);
  tell(program, "call 60");
  EXPECT_EQ(sum(read("s")), 60u);
}

// New libraries are searched for ten times a second at most.
TEST_F(Libraries, OfWhichThereAreEverMoreCostFewCommits) {
  constexpr size_t kMany = 80;
  for (size_t i = 0; i < kMany; ++i)
    std::filesystem::copy_file(target_path("loads_library"), library_ + "." + std::to_string(i));
  Program program("loads", {});
  set("s", kWork, process(program.pid()), "count");
  const uint64_t commits = engine->switches().stats().commits, began_ns = boot_ns();
  program.send("many " + library_ + " " + std::to_string(kMany));
  until([&] {
    look();
    return session().hooks.size() == kMany;
  });
  const uint64_t looks = (boot_ns() - began_ns) / 100'000'000 + 1;
  EXPECT_LE(engine->switches().stats().commits - commits, looks + 2);
  program.finish();
  EXPECT_EQ(session().followed.size(), 64u);  // the most that are reported
}

TEST_F(Libraries, AreLookedForTenTimesASecondAtMost) {
  constexpr size_t kMany = 10;
  Program program("loads", {});
  set("s", kWork, process(program.pid()), "count");
  const uint64_t began_ns = boot_ns();
  for (size_t i = 0; i < kMany; ++i) {
    put(library_ + std::to_string(i));
    tell(program, "open " + library_ + std::to_string(i));
    follow(i + 1);
  }
  EXPECT_GE(boot_ns() - began_ns, (kMany - 2) * 100'000'000);
}

TEST_F(Libraries, AreAwaitedNoMoreWhenTheirSettingIsRemoved) {
  Program program("loads", {});
  const std::string linker = linker_of(program);
  set("s", kWork, process(program.pid()), "count");
  set("s", "uprobe::main", process(program.pid()), "count");
  EXPECT_FALSE(changed_code(program.pid(), linker).empty());
  must(engine->drafts().remove("s", {must(parse_pattern(kWork))}, std::nullopt));
  must(engine->commits().commit("s", {}));
  EXPECT_TRUE(changed_code(program.pid(), linker).empty());
}

TEST_F(Libraries, OfALoopAreToldOnceUntilSomebodyLooks) {
  Program program("loads", {});
  set("s", kWork, process(program.pid()), "count");
  follow_until_idle();
  for (int i = 0; i < 3; ++i) {
    tell(program, "loop " + target_path("grow_plugin") + " 100");
    until([&] {
      engine->notices().take();
      return !session().awaited.seen.empty();
    });
    EXPECT_EQ(session().awaited.seen.size(), 1u);
    follow_until_idle();
  }
}

TEST_F(Libraries, OfAProgramWithoutALinkerAreNotAwaited) {
  Program program("loads_static", {});
  const auto staged = stage("s", kWork, process(program.pid()), "count");
  ASSERT_FALSE(staged);
  EXPECT_EQ(staged.error().code, Code::not_found);
}

TEST_F(Libraries, AreAwaitedOnlyWhereSomebodyFollows) {
  start(EngineOptions{});
  create("s");
  Program program("loads", {});
  const auto staged = stage("s", kWork, process(program.pid()), "count");
  ASSERT_FALSE(staged);
  EXPECT_EQ(staged.error().code, Code::not_found);
}

TEST_F(Libraries, OfAProcessThatEndsAreNoMore) {
  auto ending = std::make_unique<Program>("loads", std::vector<std::string>{});
  Program program("loads", {});
  Target both = process(program.pid());
  both.pids.push_back(ending->pid());
  set("s", kWork, both, "count by pid");
  tell(*ending, "open " + library_);
  ending.reset();
  tell(program, "open " + library_);
  until([&] {
    look();
    return !session().followed.empty();
  });
  follow_until_idle();
  tell(program, "call 15");
  EXPECT_EQ(counts(), (std::map<pid_t, uint64_t>{{program.pid(), 15}}));
  must(engine->delete_session("s"));
}

TEST_F(Libraries, AreTracedWhileTheSessionIsPaused) {
  Program program("loads", {});
  set("s", kWork, process(program.pid()), "count");
  must(engine->gates().pause("s"));
  tell(program, "open " + library_);
  follow(1);
  tell(program, "call 5");
  must(engine->gates().resume("s"));
  tell(program, "call 6");
  EXPECT_EQ(sum(read("s")), 6u);
}

TEST_F(Libraries, TheUsersDraftStaysWhatItIs) {
  Program program("loads", {});
  set("s", kWork, process(program.pid()), "count");
  must(stage("s", "uprobe:libc.so*:getppid", process(program.pid()), "count"));
  tell(program, "open " + library_);
  follow(1);
  ASSERT_TRUE(session().draft.has_value());
  EXPECT_EQ(session().draft->size(), 2u);
  EXPECT_EQ(session().settings.size(), 1u);
}

}  // namespace
}  // namespace tracectl::on_kernel
