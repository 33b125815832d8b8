// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <filesystem>
#include <set>

#include "daemon/kernel/trial.h"
#include "daemon/kernel/uprobe_multi.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

using RedZone = KernelTest;
using Choice = KernelTest;
using Offset = KernelTest;
using Meeting = KernelTest;

TEST_F(RedZone, WhatCouldCorruptItIsRefusedAndTheRestDoesNoHarm) {
  Program program("redzone_leaf", {"20000"});
  const auto target = process(program.pid());
  create("s");
  must(stage("s", "usdt::redzone:*", target, "count"));
  must(stage("s", "uprobe::leaf_*", target, "count"));
  must(stage("s", "uprobe::non_leaf_mid_nop5", target, "count"));
  const auto commit = must(engine->commits().commit("s", {.partial = true}));
  bool refused = false;
  for (const Refusal& one : commit.refused) refused |= names(one.probe, "redzone:mid_nop5");
  EXPECT_TRUE(refused);
  const auto said = parsed(program.run());
  EXPECT_EQ(said["wrong"], 0);
  EXPECT_EQ(said["checksum"], said["expected"]);
  std::map<std::string, uint64_t> counts;
  for (const auto& [key, row] : read("s").rows) counts[function_of(key.probe)] = row.count;
  EXPECT_FALSE(counts.contains("mid_nop5"));
  EXPECT_EQ(counts["mid_nop1"], said["calls_per_function"].get<uint64_t>());
  for (const auto& [key, row] : read("s").rows) counts[function_of(key.probe)] = row.count;
  EXPECT_EQ(counts["leaf_first_nop5"], said["leaf_first_nop5_calls"].get<uint64_t>());
  EXPECT_EQ(counts["leaf_mid_nop1"], said["calls_per_function"].get<uint64_t>());
  EXPECT_EQ(counts["leaf_mid_nop5"], said["calls_per_function"].get<uint64_t>());
  EXPECT_EQ(counts["first_nop5"], said["leaf_first_nop5_calls"].get<uint64_t>());
}

TEST_F(Choice, ChildrenThatRunTheExecutableLaterAreCounted) {
  Program first("forker", {"exec", "5", "100"}), second("forker", {"exec", "5", "100"});
  Program bystander("counters", {"1", "1"});
  Target target;
  target.executables = {first.path()};
  create("s");
  set("s", "uprobe::work", target, "count by pid");
  uint64_t calls = 0;
  for (Program* program : {&first, &second}) {
    const auto said = parsed(program->run());
    EXPECT_EQ(said["failed"], 0);
    calls += said["children"].get<uint64_t>() * said["calls_per_child"].get<uint64_t>();
  }
  bystander.run();
  const auto results = read("s");
  EXPECT_EQ(sum(results), calls);
  EXPECT_EQ(results.rows.size(), 10u);
}

TEST_F(Choice, ProcessesThatComeAndGoAreInNobodysWay) {
  Program program("forker", {"exec", "400", "100"});
  Target target;
  target.executables = {program.path()};
  create("s");
  program.send("go");
  for (int i = 0; i < 40; ++i)
    set("s", "uprobe:libc.so*:fgets", target, i % 2 ? "count" : "count by pid");
  EXPECT_EQ(parsed(program.finish())["failed"], 0);
}

// Its code is compared with the file's, and is unmapped before the process ends.
TEST_F(Choice, ProcessesThatEndWhileTheyAreLookedAtAreNoReasonToRefuse) {
  Program program("forker", {"exec", "1000", "1"});
  Target target;
  target.executables = {program.path()};
  create("s");
  must(stage("s", "uprobe::work", target, "count"));
  program.send("go");
  for (int i = 0; i < 1000; ++i) must(engine->commits().commit("s", {.dry_run = true}));
  EXPECT_EQ(parsed(program.finish())["failed"], 0);
}

TEST_F(Choice, WhatIsSetInAProcessThatHasEndedCanBeTakenOff) {
  auto program = std::make_unique<Program>("counters", std::vector<std::string>{"1", "1", "100"});
  const auto target = process(program->pid());
  create("a");
  create("b");
  set("a", "uprobe::f00*", target, "count");
  set("b", "uprobe::f000*", target, "count");
  program.reset();
  must(engine->delete_session("a"));
  must(engine->delete_session("b"));
  EXPECT_EQ(engine->slots().by_id.size(), 0u);
  EXPECT_EQ(engine->slots().links.size(), 0u);
}

TEST_F(Choice, AnotherProcessOfTheSameProgramIsNotTouched) {
  Program traced("counters", {"1", "10", "100"}), other("counters", {"1", "10", "100"});
  create("s");
  set("s", "uprobe::f00*", process(traced.pid()), "count");
  EXPECT_FALSE(changed_code(traced.pid(), traced.path()).empty());
  EXPECT_TRUE(changed_code(other.pid(), other.path()).empty());
  const auto said = parsed(traced.run());
  other.run();
  EXPECT_EQ(sum(read("s")), said["total"].get<uint64_t>());
  EXPECT_TRUE(changed_code(other.pid(), other.path()).empty());
}

TEST_F(Choice, WhatIsNotAProcessIsRefusedByNumber) {
  Program program("counters", {"2", "0", "10"});
  program.send("go");
  const auto tasks = "/proc/" + std::to_string(program.pid()) + "/task";
  pid_t thread = 0;
  until([&] {
    for (const auto& task : std::filesystem::directory_iterator(tasks))
      if (const pid_t tid = std::stoi(task.path().filename()); tid != program.pid()) thread = tid;
    return thread != 0;
  });
  create("s");
  for (const pid_t wrong : {thread, pid_t{4194304}}) {  // the second is above any pid_max
    const auto staged = stage("s", "uprobe::f0*", process(wrong), "count");
    ASSERT_FALSE(staged) << wrong;
    EXPECT_TRUE(names(staged.error().message, std::to_string(wrong))) << staged.error().message;
  }
  program.send("stop");
  program.finish();
}

// A process with a chosen number (clone3 with set_tid) that runs the same as Program.
class Impostor {
 public:
  Impostor(pid_t pid, const std::string& path) {
    int to[2], from[2];
    if (::pipe2(to, O_CLOEXEC) || ::pipe2(from, O_CLOEXEC)) throw std::runtime_error("pipe");
    const Fd its_input{to[0]}, output{from[0]};
    Fd its_output{from[1]};
    input_ = Fd{to[1]};
    clone_args arguments{};
    arguments.exit_signal = SIGCHLD;
    arguments.set_tid = reinterpret_cast<uint64_t>(&pid);
    arguments.set_tid_size = 1;
    const long child = ::syscall(SYS_clone3, &arguments, sizeof(arguments));
    if (child == 0) {
      ::dup2(its_input.get(), 0);
      ::dup2(its_output.get(), 1);
      ::execl(path.c_str(), path.c_str(), "1", "1", nullptr);
      ::_exit(127);
    }
    if (child != pid) throw std::runtime_error("clone3 does not give the number asked for");
    pid_ = pid;
    its_output = Fd{};
    // Waits for its first line, because /proc/PID/exe names the program before its code is mapped.
    char byte;
    if (::read(output.get(), &byte, 1) != 1) throw std::runtime_error(path + " does not run");
  }
  ~Impostor() {
    input_ = Fd{};  // it ends at the end of its input
    ::waitpid(pid_, nullptr, 0);
  }
  Impostor(const Impostor&) = delete;
  Impostor& operator=(const Impostor&) = delete;

 private:
  Fd input_;
  pid_t pid_ = -1;
};

TEST_F(Choice, AProcessThatCameByTheNumberOfAnotherIsNotTraced) {
  auto first = std::make_unique<Program>("counters", std::vector<std::string>{"1", "1"});
  const pid_t pid = first->pid();
  const std::string path = first->path();
  create("s");
  must(stage("s", "uprobe::f00*", process(pid), "count"));
  first.reset();
  const Impostor other(pid, path);
  const auto failed = engine->commits().commit("s", {});
  ASSERT_FALSE(failed);
  EXPECT_TRUE(names(failed.error().message, "another process")) << failed.error().message;
  EXPECT_TRUE(changed_code(pid, path).empty());
  // When staged again, the number means the present process.
  set("s", "uprobe::f00*", process(pid), "count");
  EXPECT_FALSE(changed_code(pid, path).empty());
}

TEST_F(Choice, AProcessKeepsItsOwnFileWhenAnotherTakesItsPath) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("tracectl-test-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto path = folder / "program", other = folder / "other";
  std::filesystem::copy_file(target_path("counters"), path);
  std::filesystem::copy_file(target_path("forker"), other);
  {
    Program program(path, {"1", "10", "100"});
    std::filesystem::rename(other, path);
    create("s");
    set("s", "uprobe::f00*", process(program.pid()), "count");
    const auto said = parsed(program.run());
    EXPECT_EQ(sum(read("s")), said["total"].get<uint64_t>());
  }
  std::filesystem::remove_all(folder);
}

// Two settings of one session can be for the same probe in the same process.
Target everybody() {
  Target target;
  target.all = true;
  return target;
}

// The sum of a session's rows by thread, which only one of the two settings makes.
uint64_t counted_by_thread(const Results& results) {
  uint64_t total = 0;
  for (const auto& [key, row] : results.rows) total += tid_of(key) ? row.count : 0;
  return total;
}

TEST_F(Meeting, TheLastStagedTakesTheHitsThatBothAreFor) {
  const std::string all = "uprobe:" + target_path("counters") + ":f00*";
  for (const bool one_process_last : {true, false}) {
    Program one("counters", {"1", "10", "100"}), other("counters", {"1", "10", "100"});
    create("s");
    const auto first = one_process_last ? everybody() : process(one.pid());
    const auto last = one_process_last ? process(one.pid()) : everybody();
    must(stage("s", all, first, "count"));
    must(stage("s", all, last, "count by tid"));
    must(engine->commits().commit("s", {}));
    const uint64_t of_one = parsed(one.run())["total"];
    const uint64_t of_other = parsed(other.run())["total"];
    const auto results = read("s");
    EXPECT_EQ(results.totals.hits, of_one + of_other);
    EXPECT_EQ(counted_by_thread(results), one_process_last ? of_one : of_one + of_other);
    must(engine->delete_session("s"));
    EXPECT_TRUE(changed_code(one.pid(), one.path()).empty());
  }
}

TEST_F(Meeting, AHitThatTwoTargetsOfASettingCoverIsOneHit) {
  Program one("counters", {"1", "10", "100"}), other("counters", {"1", "10", "100"});
  Target target = process(one.pid());
  target.executables = {one.path()};
  create("s");
  set("s", "uprobe::f00*", target, "count");
  uint64_t calls = 0;
  for (Program* program : {&one, &other}) calls += parsed(program->run())["total"].get<uint64_t>();
  EXPECT_EQ(sum(read("s")), calls);
}

TEST_F(Meeting, ASettingThatComesToMeetAnotherReplacesItUnderLoad) {
  constexpr uint64_t kThreads = 2;
  Program program("counters", {std::to_string(kThreads), "0", "100"});
  const std::string all = "uprobe:" + program.path() + ":f00*";
  create("s");
  set("s", all, process(program.pid()), "count by tid");
  program.send("go");
  until([&] { return sum(read("s")) > 1000; });
  EXPECT_FALSE(changed_code(program.pid(), program.path()).empty());
  set("s", all, everybody(), "count");
  const uint64_t by_thread = counted_by_thread(read("s"));
  EXPECT_GT(by_thread, 0u);
  const auto before = read("s").totals.hits;
  until([&] { return read("s").totals.hits > before + 1000; });
  EXPECT_EQ(counted_by_thread(read("s")), by_thread);
  program.send("stop");
  // A hit in progress during the switch moves to another slot (finding/coverage.cpp).
  const auto difference = [](uint64_t a, uint64_t b) { return a > b ? a - b : b - a; };
  const uint64_t calls = parsed(program.finish())["total"];
  EXPECT_LE(difference(read("s").totals.hits, calls), kThreads);
}

// For kernels whose filter by process lets all processes pass that share its memory (Linux before 6.12).
class Sharers : public KernelTest {
 protected:
  Setting of_the_program(const std::string& action, Returns returns) {
    Setting wanted = setting("u::shared", process(program_.pid()), action);
    wanted.returns = returns;
    return wanted;
  }
  // What is counted is the program's own: the other process made five calls for two of these.
  void expect_own_calls(const Setting& wanted) {
    create("s");
    must(engine->drafts().set("s", {wanted}));
    must(engine->commits().commit("s", {}));
    const auto said = parsed(program_.run());
    EXPECT_GT(said["sharer"].get<uint64_t>(), 0u);
    const auto results = read("s");
    EXPECT_EQ(sum(results), said["calls"].get<uint64_t>());
    EXPECT_EQ(results.totals.hits, said["calls"].get<uint64_t>());
  }

  Program program_{"sharer", {"100"}};
};

TEST_F(Sharers, OfTheMemoryOfATracedProcessAreNotCounted) {
  expect_own_calls(of_the_program("count", Returns::exits));
}

TEST_F(Sharers, OfTheMemoryOfATracedProcessHaveNoRows) {
  expect_own_calls(of_the_program("count by pid, tid", Returns::exits));
}

TEST_F(Sharers, OfTheMemoryOfATracedProcessAreNotTimed) {
  expect_own_calls(of_the_program("time", Returns::exits));
}

// What the doctor's trial rests on: the process that shares memory runs, and hits what is armed for all.
TEST_F(Sharers, OfATrialReachAProbeThatIsForAll) {
  auto child = must(TrialChild::start());
  const auto program = must(CountingProgram::load(attach_type_at_uprobes()));
  const Fd link = program.arm(TrialFunction::nop, 0);
  ASSERT_TRUE(link);
  EXPECT_TRUE(child.call_by_sharer(TrialFunction::nop, 10));
  EXPECT_EQ(program.count(), 10u);
}

// For kernels on which a forked child crashes, because a probe on a 5-byte nop becomes a call.
class Forked : public KernelTest {
 protected:
  void expect_whole(const Target& target, Program& program, uint64_t hits) {
    create("s");
    set("s", "uprobe::nop5_*", target, "count");
    const auto said = parsed(program.run());
    EXPECT_EQ(said["died"], 0);
    EXPECT_EQ(said["wrong"], 0);
    EXPECT_EQ(sum(read("s")), hits);
    must(engine->delete_session("s"));
    EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
  }
};

TEST_F(Forked, ChildrenOfATracedProcessLiveWhereItHasNops) {
  Program program("nops", {"100", "20"});
  expect_whole(process(program.pid()), program, 5 * 100);
}

TEST_F(Forked, ChildrenThatAreTracedTooLiveWhereTheyHaveNops) {
  Program program("nops", {"100", "20"});
  Target target;
  target.executables = {program.path()};
  expect_whole(target, program, 5 * 100 * 21);
}

TEST_F(Forked, ChildrenLiveWhoseParentWasTracedAgain) {
  Program program("nops", {"100", "20"});
  create("other");
  set("other", "uprobe::nop5_usual", process(program.pid()), "count");
  must(engine->delete_session("other"));
  expect_whole(process(program.pid()), program, 5 * 100);
}

// To keep a breakpoint, a child of the engine hits it in a mapping of its own.
TEST_F(Forked, HitsOfTheEnginesOwnChildAreNobodys) {
  Program program("nops", {"100", "0"});
  Target everybody;
  everybody.all = true;
  create("all");
  set("all", "uprobe:" + program.path() + ":nop5_*", everybody, "count");
  create("one");
  set("one", "uprobe::nop5_*", process(program.pid()), "count");
  EXPECT_EQ(sum(read("all")), 0u);
  program.run();
  EXPECT_EQ(sum(read("all")), 500u);
  EXPECT_EQ(sum(read("one")), 500u);
}

TEST_F(Offset, AnOffsetInsideAnInstructionIsRefusedByName) {
  Program program("counters", {"1", "1"});
  create("s");
  const auto staged = stage("s", "uprobe::f0000+2", process(program.pid()), "count");
  const auto committed = engine->commits().commit("s", {});
  const std::string message = staged ? committed.error().message : staged.error().message;
  EXPECT_TRUE(names(message, "f0000+")) << message;
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
}

}  // namespace
}  // namespace tracectl::on_kernel
