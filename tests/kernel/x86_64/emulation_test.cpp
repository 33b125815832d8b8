// SPDX-License-Identifier: BSD-2-Clause
//
// Instructions that the daemon's emulator carries out (tests/targets/emulated.c). Where the kernel lets no program do that,
// as most do before 6.19, all but the classes and the steps must be the same; tests/matrix runs this on others.
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <map>

#include "daemon/kernel/trial.h"
#include "daemon/kernel/uprobe_multi.h"
#include "daemon/object/code/emulation.h"
#include "tests/support/emulated_by_bpf.h"
#include "tests/support/hex_code.h"
#include "tests/support/other_tracer.h"
#include "tests/support/processor.h"
#include "tests/support/restarts.h"

namespace tracectl::on_kernel {
namespace {

constexpr uint64_t kCallsOfEach = 2000;
constexpr const char* kAll = "uprobe::em_*";

std::unique_ptr<Kernel> open_kernel() { return must(Kernel::open({.emulates = true})); }

class Emulation : public KernelTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "arming probes needs root";
    auto kernel = open_kernel();
    emulates = kernel->emulates();
    EXPECT_EQ(emulates != Emulates::nothing, bool{load_returning_program(0)})
        << "a program may write registers, or not";
    EXPECT_EQ(emulates != Emulates::nothing, bool{kernel->emulation()});
    engine = must(Engine::start(std::move(kernel), EngineOptions{}));
    create("s");
  }

  static Program start(const char* how = nullptr) {
    std::vector<std::string> arguments{std::to_string(kCallsOfEach)};
    if (how) arguments.emplace_back(how);
    return Program("emulated", arguments);
  }

  void follow(const std::string& session, const std::string& pattern, const Target& target,
              const std::string& action, Returns returns) {
    Setting wanted = setting(pattern, target, action);
    wanted.returns = returns;
    must(engine->drafts().set(session, {std::move(wanted)}));
    must(engine->commits().commit(session, {}));
  }

  CostClass cost_of(const std::string& function) const {
    if (emulates == Emulates::nothing || function == "em_below") return CostClass::slow;
    const bool loads = function == "em_blocks" || function == "em_bstack";
    return loads && emulates == Emulates::all_but_loads ? CostClass::slow : CostClass::emulated;
  }

  // Lets it run, and checks that nothing it computed was wrong.
  static nlohmann::json run(Program& program) {
    const auto said = parsed(program.run());
    EXPECT_EQ(said["wrong"], 0);
    EXPECT_EQ(said["faults"], 10);
    return said;
  }

  std::map<std::string, uint64_t> counts(const std::string& session) {
    std::map<std::string, uint64_t> of;
    for (const auto& [key, row] : read(session).rows) of[function_of(key.probe)] = row.count;
    return of;
  }

  void expect_all_counted(const std::string& session) {
    const auto counted = counts(session);
    EXPECT_EQ(counted.size(), 14u);
    for (const auto& [function, count] : counted)
      EXPECT_EQ(count, kCallsOfEach + (function == "em_byte" ? 10 : 0)) << function;
  }

  uint64_t offset_of(const Program& program, const std::string& function) {
    const auto found = must(
        engine->list({must(parse_pattern("uprobe::" + function))}, process(program.pid()), {}));
    const Site& site = found.parts.at(0).probes->at(0).sites.at(0);
    return site.offset - site.moved_bytes;
  }

  Emulates emulates = Emulates::nothing;
};

TEST_F(Emulation, IsWhatTheKernelWouldHaveDone) {
  Program program = start();
  const auto found = must(engine->list({must(parse_pattern(kAll))}, process(program.pid()), {}));
  for (const Resolved& part : found.parts)
    for (const Probe& probe : *part.probes)
      EXPECT_EQ(probe.sites.at(0).cost, cost_of(function_of(probe.name))) << probe.name;
  set("s", kAll, process(program.pid()), "count");
  run(program);
  expect_all_counted("s");
}

// Those that begin with em_b may be stepped: of absent memory and bad addresses, where the stack pointer is written, and
// where loads are.
TEST_F(Emulation, LeavesNothingToBeStepped) {
  Program program = start();
  set("s", "uprobe::em_[!b]*", process(program.pid()), "count");
  run(program);
  EXPECT_EQ(counts("s").size(), 9u);
  EXPECT_EQ(has_page_for_steps(program.pid()), emulates == Emulates::nothing);
}

TEST_F(Emulation, OfLoadsLeavesNothingToBeSteppedWhereTheyAreWhole) {
  for (const char* function : {"em_blocks", "em_bstack"}) {
    Program program = start();
    create(function);
    set(function, std::string("uprobe::") + function, process(program.pid()), "count");
    run(program);
    EXPECT_EQ(counts(function)[function], kCallsOfEach);
    EXPECT_EQ(has_page_for_steps(program.pid()), emulates != Emulates::all) << function;
  }
}

// The jump reads its target from memory.
TEST_F(Emulation, OfExitsByAJumpLeavesNothingToBeSteppedWhereLoadsAreWhole) {
  Program program = start();
  follow("s", "uprobe::em_bounce", process(program.pid()), "time", Returns::exits);
  run(program);
  EXPECT_EQ(counts("s")["em_bounce"], kCallsOfEach);
  EXPECT_EQ(has_page_for_steps(program.pid()), emulates != Emulates::all);
}

TEST_F(Emulation, OfReturnsLeavesNothingToBeStepped) {
  Program program = start();
  follow("s", "uprobe::em_[!b]*", process(program.pid()), "time", Returns::exits);
  run(program);
  EXPECT_EQ(counts("s").size(), 9u);
  for (const auto& [function, count] : counts("s")) EXPECT_EQ(count, kCallsOfEach) << function;
  EXPECT_EQ(has_page_for_steps(program.pid()), emulates == Emulates::nothing);
}

TEST_F(Emulation, OfFunctionsWhoseReturnsTheTrampolineSees) {
  if (!has_uprobe_session()) GTEST_SKIP() << "no uprobe sessions";
  Program program = start();
  follow("s", kAll, process(program.pid()), "time", Returns::trampoline);
  run(program);
  for (const auto& [function, count] : counts("s")) EXPECT_EQ(count, kCallsOfEach) << function;
}

TEST_F(Emulation, IsRightWhileSignalsArrive) {
  Program program = start("signals");
  follow("s", kAll, process(program.pid()), "time", Returns::exits);
  const auto said = run(program);
  EXPECT_GT(said["signals"], 0);
}

// Whichever link is newer, programs see the registers before the instruction.
TEST_F(Emulation, IsUnseenByOtherSessions) {
  Program program = start();
  set("s", "uprobe::em_subtract", process(program.pid()), "sum(arg0)");
  create("everywhere");
  Target all;
  all.all = true;
  set("everywhere", "uprobe:" + program.path() + ":em_subtract", all, "sum(arg0)");
  create("later");
  follow("later", "uprobe::em_subtract", process(program.pid()), "sum(arg0), time", Returns::exits);
  const auto said = run(program);
  for (const char* session : {"s", "everywhere", "later"}) {
    size_t sums = 0;
    for (const auto& [key, row] : read(session).rows)
      if (row.shape.kind == RowShape::Kind::sums) {
        EXPECT_EQ(row.sum, said["sum"].get<uint64_t>()) << session;
        ++sums;
      }
    EXPECT_EQ(sums, 1u) << session;
  }
}

// As of two daemons, or of a daemon and a command without one.
TEST_F(Emulation, OfTwoAtOneSiteIsDoneOnce) {
  const auto other = must(Engine::start(open_kernel(), EngineOptions{}));
  Program program = start();
  follow("s", kAll, process(program.pid()), "time", Returns::exits);
  must(other->create_session("s"));
  Setting wanted = setting(kAll, process(program.pid()), "time");
  wanted.returns = Returns::exits;
  must(other->drafts().set("s", {std::move(wanted)}));
  must(other->commits().commit("s", {}));
  run(program);
}

TEST_F(Emulation, LeavesTheReturnsOfAnotherTracerAlone) {
  Program program = start();
  const OtherTracer returns(program.pid(), program.path(), offset_of(program, "em_compare"), 0,
                            OtherTracer::At::returns);
  const OtherTracer moves(program.pid(), program.path(), offset_of(program, "em_move"), 0,
                          OtherTracer::At::returns);
  const OtherTracer frames(program.pid(), program.path(), offset_of(program, "em_below"), 0,
                           OtherTracer::At::returns);
  follow("s", kAll, process(program.pid()), "time", Returns::exits);
  run(program);
  EXPECT_EQ(frames.hits(), kCallsOfEach);
  EXPECT_EQ(returns.hits(), kCallsOfEach);
  EXPECT_EQ(moves.hits(), kCallsOfEach);
}

// As a debugger does.
TEST_F(Emulation, IsRightWhileTheProgramIsStepped) {
  constexpr int kSteps = 30'000;
  Program program = start();
  follow("s", kAll, process(program.pid()), "time", Returns::exits);
  ASSERT_EQ(::ptrace(PTRACE_SEIZE, program.pid(), nullptr, nullptr), 0);
  ASSERT_EQ(::ptrace(PTRACE_INTERRUPT, program.pid(), nullptr, nullptr), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(program.pid(), &status, __WALL), program.pid());
  program.send("go");
  for (int step = 0; step < kSteps; ++step) {
    const int signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    ASSERT_EQ(::ptrace(PTRACE_SINGLESTEP, program.pid(), nullptr, signal), 0);
    ASSERT_EQ(::waitpid(program.pid(), &status, __WALL), program.pid());
    ASSERT_TRUE(WIFSTOPPED(status));
  }
  ASSERT_EQ(::ptrace(PTRACE_DETACH, program.pid(), nullptr, nullptr), 0);
  EXPECT_EQ(parsed(program.finish())["wrong"], 0);
  for (const auto& [function, count] : counts("s")) EXPECT_EQ(count, kCallsOfEach) << function;
}

class EmulationOverRestarts : public RestartTest {};

// Programs of the former daemon are older than what the next one arms to emulate, and still see the registers first.
// Where the kernel lets nothing be emulated, all is as without.
TEST_F(EmulationOverRestarts, SessionsWhoseSitesWereEmulatedAreRight) {
  const std::string path = target_path("emulated");
  emulates = true;
  restart();
  save("s");
  Setting first = setting("u::em_subtract", running(path), "sum(arg0), time");
  first.returns = Returns::exits;
  must(engine->drafts().set("s", {std::move(first)}));
  must(engine->commits().commit("s", {}));
  uint64_t sum = 0;
  run_three_times([&] {
    const auto said = parsed(Program("emulated", {"100"}).run());
    EXPECT_EQ(said["wrong"], 0);
    sum += said["sum"].get<uint64_t>();
  });
  Program program("emulated", {"100"});
  create("later");
  set("later", "u::em_subtract", process(program.pid()), "sum(arg0)");
  const auto said = parsed(program.run());
  EXPECT_EQ(said["wrong"], 0);
  EXPECT_TRUE(has_page_for_steps(program.pid()));
  sum += said["sum"].get<uint64_t>();
  uint64_t calls = 0;
  for (const auto& [key, row] : read("s").rows)
    if (row.shape.kind == RowShape::Kind::sums)
      EXPECT_EQ(row.sum, sum);
    else if (row.shape.kind == RowShape::Kind::time)
      calls += row.count;
  EXPECT_EQ(calls, 400u);
}

// The same code as in the emulator's program, on this kernel. `make bench` tries a million states of each instruction.
TEST(EmulatedByBpf, IsWhatTheProcessorDoes) {
  if (::geteuid() != 0) GTEST_SKIP() << "loading programs needs root";
  EmulatedByBpf bpf;
  std::mt19937_64 random(1);
  for (const char* text : emulated_instructions()) {
    const auto code = bytes(text);
    const auto form = emulated_form(code, Standing::at_exit, Emulates::all);
    ASSERT_TRUE(form) << text;
    const Processor processor(code);
    std::vector<tc_thread_state> its;
    for (emulated_state& state : bpf.states()) {
      state = random_state(random, *form, processor);
      its.push_back(processor.run(state.thread));
    }
    bpf.run(*form);
    for (size_t i = 0; i < its.size(); ++i)
      ASSERT_TRUE(is_same(*form, bpf.states()[i].thread, its[i])) << text << ", state " << i;
  }
}

}  // namespace
}  // namespace tracectl::on_kernel
