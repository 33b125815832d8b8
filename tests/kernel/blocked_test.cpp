// SPDX-License-Identifier: BSD-2-Clause
//
// How long threads are blocked within calls, compared with what the program knows of it (tests/targets/blocks.c).
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/support/users_file.h"

namespace tracectl::on_kernel {
namespace {

constexpr uint64_t kRoundsOfBlocks = 20;

class Blocked : public KernelTest {
 protected:
  void run(const std::vector<std::string>& functions, const std::string& action,
           const char* target = "blocks",
           const std::vector<std::string>& arguments = {std::to_string(kRoundsOfBlocks)},
           Returns returns = Returns::exits) {
    create("s");
    Program program(target, arguments);
    for (const std::string& function : functions) {
      Setting one = setting("u::" + function, process(program.pid()), action);
      one.returns = returns;
      must(engine->drafts().set("s", {std::move(one)}));
    }
    must(engine->commits().commit("s", {}));
    said_ = parsed(program.run());
    results_ = read("s");
  }

  // The rows of the function, which have this number of stacks.
  Row all_of(const std::string& function, size_t stacks) const {
    Row all;
    size_t count = 0;
    for (const auto& [key, row] : results_.rows)
      if (function_of(key.probe) == function && row.count) {
        all.add(row);
        count++;
      }
    EXPECT_EQ(count, stacks) << function;
    return all;
  }
  uint64_t said(const std::vector<std::string>& places, const char* what) const {
    uint64_t all = 0;
    for (const std::string& place : places) all += said_.at(place).at(what).get<uint64_t>();
    return all;
  }
  void expect_as_said(const Row& row, const std::vector<std::string>& places) const {
    SCOPED_TRACE(places.at(0));
    EXPECT_EQ(row.count, said(places, "count"));
    EXPECT_GE(row.sum, said(places, "least"));
    EXPECT_LE(row.sum, said(places, "most"));
    EXPECT_GE(row.max * row.count, row.sum);
  }

  nlohmann::json said_;
  Results results_;
};

TEST_F(Blocked, TimesAreThoseOfTheProgramAndTheTakenCpuIsNone) {
  for (const Returns returns : {Returns::exits, Returns::trampoline}) {
    start({});
    run({"blocks_read", "blocks_burn"}, "sum(block), max(block)", "blocks",
        {std::to_string(kRoundsOfBlocks)}, returns);
    expect_as_said(all_of("blocks_read", 1), {"blocks_read"});
    all_of("blocks_burn", 0);
  }
}

TEST_F(Blocked, StacksAreThoseOfThePlacesWhereTheThreadWaits) {
  run({"blocks_outer"}, "sum(block) by stack, max(block) by stack");
  all_of("blocks_outer", 3);
  for (const auto& [key, row] : results_.rows) {
    const auto names = functions(std::get<Stack>(key.by.at(0).value));
    const auto outer = std::find(names.begin(), names.end(), "blocks_outer");
    ASSERT_GE(names.end() - outer, 2);
    EXPECT_EQ(outer[1], "work");
    ASSERT_GE(outer - names.begin(), 2);  // and read(2) of the C library, whose caller is missing
    expect_as_said(row, {outer[-1]});
  }
}

TEST_F(Blocked, ABlockBelongsToTheInnermostCall) {
  run({"blocks_read", "blocks_outer"}, "sum(block) by stack(1)");
  const Row inner = all_of("blocks_read", 1), outer = all_of("blocks_outer", 1);
  expect_as_said(inner, {"blocks_read"});
  expect_as_said(outer, {"blocks_left", "blocks_hidden"});
}

TEST_F(Blocked, ACallThatWasLeftUnseenHasNone) {
  run({"blocks_leave"}, "sum(block)");
  all_of("blocks_leave", 0);
}

TEST_F(Blocked, WhatTheNextProgramWaitsForIsNotTheCallsThatTheExecEnded) {
  run({"odd_exec", "odd_waits"}, "sum(block)", "blocks_odd", {"exec"});
  EXPECT_EQ(all_of("odd_waits", 1).count, 1u);
  all_of("odd_exec", 0);
}

TEST_F(Blocked, WhatTheThreadWaitsForIsNotASuspendedCoroutines) {
  run({"odd_suspended", "odd_waits"}, "sum(block)", "blocks_odd", {"suspend"});
  EXPECT_EQ(all_of("odd_waits", 1).count, 1u);
  all_of("odd_suspended", 0);
}

TEST_F(Blocked, CallsOfOtherSettingsWithinAreNotInTheWay) {
  create("s");
  Program program("blocks", {std::to_string(kRoundsOfBlocks)});
  must(stage("s", "u::blocks_outer", process(program.pid()), "sum(block) by stack(1)"));
  must(stage("s", "u::blocks_read", process(program.pid()), "time"));
  must(engine->commits().commit("s", {}));
  said_ = parsed(program.run());
  results_ = read("s");
  expect_as_said(all_of("blocks_outer", 1), {"blocks_read", "blocks_left", "blocks_hidden"});
}

TEST_F(Blocked, SessionsMeasureTheSameThreadIndependently) {
  Program program("blocks", {std::to_string(kRoundsOfBlocks)});
  for (const char* session : {"s", "t"}) {
    create(session);
    set(session, "u::blocks_read", process(program.pid()), "sum(block)");
  }
  said_ = parsed(program.run());
  for (const char* session : {"s", "t"}) {
    results_ = read(session);
    expect_as_said(all_of("blocks_read", 1), {"blocks_read"});
  }
}

// Whether the kernel has found all threads off their CPUs.
bool are_all_off_cpu(const Program& program) {
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(program.pid()) + "/task")) {
    std::string said;
    std::getline(std::ifstream(task.path() / "syscall"), said);
    if (said.empty() || said.starts_with("running")) return false;
  }
  return true;
}

TEST_F(Blocked, ABlockThatEndsDuringAPauseIsNotCounted) {
  for (const bool pauses : {false, true}) {
    start({});
    create("s");
    Program program("waits", {});
    set("s", "u::waits_nest", process(program.pid()), "sum(block)");
    program.send("begin 1:1");
    program.finish();
    until([&] { return are_all_off_cpu(program); });
    const uint64_t before = sum(read("s"));
    if (pauses) must(engine->gates().pause("s"));
    program.send("return 0");
    program.finish();
    if (pauses) must(engine->gates().resume("s"));
    EXPECT_EQ(sum(read("s")) > before, !pauses);
  }
}

class BlockedOfUser : public WithUsersFile {
 protected:
  BlockedOfUser() : WithUsersFile("blocks") {}
};

TEST_F(BlockedOfUser, IsSeenWhileTheUserMaySeeTheProcess) {
  create_for(user(), "s");
  create("all");
  for (const char* session : {"s", "all"}) {
    must(stage(session, probe("blocks_read"), everybody(), "sum(block)"));
    set(session, probe("blocks_hidden"), everybody(), "sum(block)");
  }
  const auto program = run_by_user();
  const auto rounds = parsed(program->run()).at("rounds").get<uint64_t>();
  const auto counts = [&](const char* session) {
    std::map<std::string, uint64_t> found;
    for (const auto& [key, row] : read(session).rows) found[function_of(key.probe)] += row.count;
    return found;
  };
  EXPECT_EQ(counts("s")["blocks_read"], rounds);
  EXPECT_EQ(counts("s")["blocks_hidden"], 0u);
  EXPECT_EQ(counts("all")["blocks_hidden"], rounds);
}

}  // namespace
}  // namespace tracectl::on_kernel
