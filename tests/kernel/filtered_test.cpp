// SPDX-License-Identifier: BSD-2-Clause
//
// Programs with a seccomp filter (tests/targets/filtered.c): the kernel's ways of seeing returns and of reaching a probe
// on a nop may be system calls, which the filter must not see.
#include "daemon/kernel/trial.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

class Filtered : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    engine.reset();
    engine = must(Engine::start(must(Kernel::open({.fast_nops = true})), EngineOptions{}));
    create("s");
  }

  void trace(const std::string& action, Returns returns) {
    Setting set = setting("u::filtered_*", process(program_.pid()), action);
    set.returns = returns;
    must(engine->drafts().set("s", {std::move(set)}));
    must(engine->commits().commit("s", {}));
  }
  // The program's calls of its two functions, if it lived through them.
  uint64_t calls_of_the_program() { return 2 * parsed(program_.run())["calls"].get<uint64_t>(); }

  Program program_{"filtered", {"2000"}};
};

TEST_F(Filtered, ProgramsLiveWithProbesOnNops) {
  trace("count", Returns::exits);
  const uint64_t calls = calls_of_the_program();
  EXPECT_EQ(sum(read("s")), calls);
}

TEST_F(Filtered, ProgramsLiveWhoseReturnsAreSeenAtExits) {
  trace("time", Returns::exits);
  const uint64_t calls = calls_of_the_program();
  EXPECT_EQ(sum(read("s")), calls);
}

TEST_F(Filtered, ProgramsLiveWhoseReturnsAreSeenByTheTrampoline) {
  trace("time", Returns::trampoline);
  const uint64_t calls = calls_of_the_program();
  EXPECT_EQ(sum(read("s")), calls);
}

// What the trials rest on: a system call that the filter does not know ends the child.
TEST_F(Filtered, ATrialUnderAFilterSeesASystemCall) {
  auto obedient = must(TrialChild::start());
  EXPECT_TRUE(obedient.call_under_filter(TrialFunction::nop, 10));
  auto other = must(TrialChild::start());
  EXPECT_TRUE(other.call(TrialFunction::system_call, 1));
  EXPECT_FALSE(other.call_under_filter(TrialFunction::system_call, 1));
}

}  // namespace
}  // namespace tracectl::on_kernel
