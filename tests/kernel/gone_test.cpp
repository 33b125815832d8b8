// SPDX-License-Identifier: BSD-2-Clause
//
// When a removal returns, every process is as it was before, down to the bytes, also if it was
// hitting the probes all the time, or if another tracer is at the same site.
#include "tests/support/other_tracer.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

class Gone : public KernelTest {
 protected:
  Site site(const Program& program, const char* pattern) {
    const auto found =
        must(engine->list({must(parse_pattern(pattern))}, process(program.pid()), {}));
    return found.parts.at(0).probes->at(0).sites.at(0);
  }
  uint16_t guarded(const Program& program) {
    return semaphore_value(program.pid(), program.path(),
                           site(program, "usdt::all:guarded").semaphore);
  }
  void remove(const char* pattern) {
    must(engine->drafts().remove("s", {must(parse_pattern(pattern))}, std::nullopt));
    must(engine->commits().commit("s", {}));
  }
};

std::vector<Target> both_ways_to_choose(const Program& one, const Program& other) {
  Target by_number = process(one.pid()), by_executable;
  by_number.pids.push_back(other.pid());
  by_executable.executables = {one.path()};
  return {by_number, by_executable};
}

TEST_F(Gone, FromTheCodeOfEveryProcessThatIsRunningIntoIt) {
  Program one("counters", {"1", "0", "100"}), other("counters", {"1", "0", "100"});
  create("s");
  for (Program* program : {&one, &other}) program->send("go");
  for (const Target& target : both_ways_to_choose(one, other)) {
    set("s", "uprobe::f00*", target, "count by pid");
    until([&] { return read("s").rows.size() == 200; });
    for (const Program* program : {&one, &other})
      EXPECT_GE(changed_code(program->pid(), program->path()).size(), 100u);
    remove("uprobe::f00*");
    for (const Program* program : {&one, &other})
      EXPECT_EQ(changed_code(program->pid(), program->path()), std::vector<uint64_t>{});
    read("s", true);
  }
}

TEST_F(Gone, WithTheSemaphoresOfEveryProcessThatIsRunningIntoIt) {
  Program one("usdt_all", {"1000000000"}), other("usdt_all", {"1000000000"});
  create("s");
  for (Program* program : {&one, &other}) program->send("go");
  for (const Target& target : both_ways_to_choose(one, other)) {
    set("s", "usdt::all:*", target, "count");
    for (const Program* program : {&one, &other}) EXPECT_EQ(guarded(*program), 1);
    remove("usdt::all:*");
    for (const Program* program : {&one, &other}) {
      EXPECT_EQ(guarded(*program), 0);
      EXPECT_EQ(changed_code(program->pid(), program->path()), std::vector<uint64_t>{});
    }
  }
}

// One of two settings is removed: their link is replaced, and the other setting's sites must not
// change.
TEST_F(Gone, AloneWhenTheSitesBesideItStay) {
  Program one("usdt_all", {"1000000000"}), other("usdt_all", {"1000000000"});
  create("s");
  for (Program* program : {&one, &other}) program->send("go");
  for (const Target& target : both_ways_to_choose(one, other)) {
    must(stage("s", "usdt::all:guarded", target, "count"));
    set("s", "usdt::all:none", target, "count");
    remove("usdt::all:none");
    const uint64_t stays = site(one, "usdt::all:guarded").offset;
    for (const Program* program : {&one, &other}) {
      EXPECT_EQ(guarded(*program), 1);
      for (const uint64_t offset : changed_code(program->pid(), program->path()))
        EXPECT_EQ(offset, stays);  // a 1-byte nop
    }
    remove("usdt::all:guarded");
    for (const Program* program : {&one, &other}) EXPECT_EQ(guarded(*program), 0);
  }
}

// Two tracers of one site raise its semaphore by one, not by two (kernel/events/uprobes.c,
// update_ref_ctr): it must not drop when only one of them ends.
TEST_F(Gone, LeavesTheProbeOfAnotherTracerAtTheSameSite) {
  constexpr uint64_t kRounds = 1000;
  Program program("usdt_all", {std::to_string(kRounds)});
  const Site place = site(program, "usdt::all:guarded");
  const OtherTracer other(program.pid(), program.path(), place.offset, place.semaphore);
  const auto theirs = changed_code(program.pid(), program.path());
  EXPECT_FALSE(theirs.empty());
  create("s");
  set("s", "usdt::all:*", process(program.pid()), "count");
  EXPECT_GT(changed_code(program.pid(), program.path()).size(), theirs.size());
  remove("usdt::all:*");
  EXPECT_EQ(guarded(program), 1);
  EXPECT_EQ(changed_code(program.pid(), program.path()), theirs);
  EXPECT_EQ(parsed(program.run())["probes"]["guarded"]["hits"], kRounds);
  EXPECT_EQ(other.hits(), kRounds);
  EXPECT_EQ(sum(read("s")), 0u);
}

TEST_F(Gone, TakesBackOfASharedSemaphoreOnlyWhatItGave) {
  Program program("usdt_all", {"10"});
  const OtherTracer other(program.pid(), program.path(), site(program, "usdt::all:none").offset,
                          site(program, "usdt::all:guarded").semaphore);
  EXPECT_EQ(guarded(program), 1);
  create("s");
  set("s", "usdt::all:guarded", process(program.pid()), "count");
  EXPECT_EQ(guarded(program), 2);
  must(engine->delete_session("s"));
  EXPECT_EQ(guarded(program), 1);
}

}  // namespace
}  // namespace tracectl::on_kernel
