// SPDX-License-Identifier: BSD-2-Clause
//
// Notices from the programs, apart from events: hits that request dumps, and crashed processes.
#include <poll.h>
#include <signal.h>

#include <filesystem>

#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

class Notices : public KernelTest {
 protected:
  void set_up_recorder() {
    create("rec");
    engine->notices().dump_at_triggers("rec");
  }
  bool is_readable() const {
    pollfd notices{engine->notices().fd(), POLLIN, 0};
    return ::poll(&notices, 1, 0) == 1;
  }
  static WatchedEnds crashes() {
    WatchedEnds ends;
    ends.add_crashes();
    return ends;
  }
  // The crash of a process that is killed here.
  SeenEnd crash_of(Program& program, int signal) {
    ::kill(program.pid(), signal);
    program.wait_for_end();
    const auto notices = engine->notices().take();
    if (notices.size() != 1)
      throw std::runtime_error(std::to_string(notices.size()) + " notices instead of one");
    return std::get<SeenEnd>(notices.front());
  }
  // Watches for crashes of processes for which `function` is set, in a session with a recorder.
  void watch(const Target& target, const std::string& function = "uprobe:hot:hot_push") {
    create("s");
    engine->notices().dump_at_triggers("s");
    set("s", function, target, "count by pid");
    engine->notices().watch_ends(crashes());
  }
};

TEST_F(Notices, OfHitsComeOnceUntilSomebodyListensAgain) {
  Program program("hot", {});
  set_up_recorder();
  create("by");
  set("by", "uprobe::hot_push", process(program.pid()), "trigger(rec)");
  for (int i = 0; i < 3; ++i) {
    program.send("hot_push 1000");
    program.finish();
    EXPECT_TRUE(is_readable());
    const auto notices = engine->notices().take();
    ASSERT_EQ(notices.size(), 1u);
    const auto& asked = std::get<DumpAsked>(notices.front());
    EXPECT_EQ(asked.session, "rec");
    EXPECT_EQ(asked.by_session, "by");
    EXPECT_EQ(asked.pid, program.pid());
    EXPECT_EQ(asked.process, "hot");
    program.send("hot_push 1000");
    program.finish();
    EXPECT_FALSE(is_readable());
    EXPECT_TRUE(engine->notices().take().empty());
    engine->notices().listen_for_dumps("rec");
  }
}

TEST_F(Notices, ComeFromHitsThatTheConditionTakes) {
  Program program("hot", {});
  set_up_recorder();
  create("by");
  Setting on_hit = setting("uprobe::hot_push", process(program.pid()), "trigger(rec)");
  on_hit.spec.when = must(parse_condition("arg0 == 600"));
  must(engine->drafts().set("by", {on_hit}));
  must(engine->commits().commit("by", {}));
  program.send("hot_push 600");
  program.finish();
  EXPECT_TRUE(engine->notices().take().empty());
  program.send("hot_push 601");
  program.finish();
  EXPECT_EQ(engine->notices().take().size(), 1u);
}

TEST_F(Notices, OfASessionThatIsGoneAreForgotten) {
  Program program("hot", {});
  set_up_recorder();
  create("by");
  set("by", "uprobe::hot_push", process(program.pid()), "trigger(rec)");
  program.send("hot_push 1");
  program.finish();
  must(engine->delete_session("by"));
  must(engine->delete_session("rec"));
  EXPECT_TRUE(engine->notices().take().empty());
}

TEST_F(Notices, OfARecorderCannotBeSwitchedOff) {
  Program program("hot", {});
  set_up_recorder();
  create("by");
  const auto refused = stage("by", "uprobe::hot_push", process(program.pid()), "trigger(rec, off)");
  ASSERT_FALSE(refused);
  EXPECT_TRUE(names(refused.error().message, "nothing to switch off"));
}

TEST_F(Notices, OfCrashesNameWhoCrashedAndHow) {
  Program program("hot", {});
  watch(process(program.pid()));
  const SeenEnd seen = crash_of(program, SIGSEGV);
  EXPECT_EQ(seen.sessions, std::vector<std::string>{"s"});
  EXPECT_EQ(seen.end.pid, program.pid());
  EXPECT_EQ(seen.end.own_pid, program.pid());
  EXPECT_EQ(seen.end.initial_pid, program.pid());
  EXPECT_EQ(seen.end.name, "hot");
  EXPECT_EQ(seen.end.signal, SIGSEGV);
  EXPECT_EQ(seen.end.uid, ::geteuid());
  EXPECT_EQ(seen.end.gid, ::getegid());
}

TEST_F(Notices, OfCrashesAreOfNoInterestToSessionsWithoutARecorder) {
  Program program("hot", {});
  create("other");
  set("other", "uprobe::hot_push", process(program.pid()), "count");
  watch(process(program.pid()));
  EXPECT_EQ(crash_of(program, SIGSEGV).sessions, std::vector<std::string>{"s"});
}

// The names appear in the log.
TEST_F(Notices, HaveNamesThatBeginNoLine) {
  const std::string folder = ::testing::TempDir(), name = folder +
                                                          "/a\nb\x1b"
                                                          "c";
  std::filesystem::copy_file(target_path("hot"), name,
                             std::filesystem::copy_options::overwrite_existing);
  Program program(name, {});
  watch(process(program.pid()), "uprobe::hot_push");
  EXPECT_EQ(crash_of(program, SIGSEGV).end.name, "a?b?c");
  std::filesystem::remove(name);
}

TEST_F(Notices, OfCrashesComeForThoseChosenByTheirFile) {
  Target target;
  target.executables = {target_path("hot")};
  watch(target);
  Program program("hot", {});
  EXPECT_EQ(crash_of(program, SIGKILL).end.pid, program.pid());
}

TEST_F(Notices, OfCrashesComeForChildren) {
  Program parent("forker", {"fork", "1", "1000000000000"});
  Target target = process(parent.pid());
  target.follow = Follow::children;
  watch(target, "uprobe:forker:work");
  parent.send("go");
  until([&] { return sum(read("s")) > 0; });
  const pid_t child = pid_of(read("s").rows.begin()->first);
  ::kill(child, SIGBUS);
  parent.finish();
  const auto notices = engine->notices().take();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(std::get<SeenEnd>(notices.front()).end.pid, child);
}

TEST_F(Notices, OfCrashesOfAllThreadsAreOne) {
  Program program("counters", {"8", "0"});
  watch(process(program.pid()), "uprobe::f0001");
  program.send("go");
  until([&] { return sum(read("s")) > 1000; });
  EXPECT_EQ(crash_of(program, SIGABRT).end.pid, program.pid());
}

// The last two threads can both find that no other is left.
TEST_F(Notices, OfCrashesAreOneEvenIfTheLastThreadsEndAtTheSameTime) {
  Target target;
  target.executables = {target_path("counters")};
  watch(target, "uprobe::f0001");
  for (int i = 0; i < 500; ++i) {
    Program program("counters", {"8", "0"});
    program.send("go");
    EXPECT_EQ(crash_of(program, SIGKILL).end.pid, program.pid());
  }
}

TEST_F(Notices, OfEndsComeByTheirSignalAndByTheirStatus) {
  Program by_signal("hot", {}), by_status("hot", {});
  Target both = process(by_signal.pid());
  both.pids.push_back(by_status.pid());
  watch(both);
  WatchedEnds ends;
  ends.add_signal(SIGRTMAX);
  ends.add_status(130);
  engine->notices().watch_ends(ends);
  const SeenEnd seen = crash_of(by_signal, SIGRTMAX);
  EXPECT_EQ(seen.end.signal, SIGRTMAX);
  EXPECT_FALSE(seen.end.has_core);
  by_status.send("exit 130");
  by_status.wait_for_end();
  const auto notices = engine->notices().take();
  ASSERT_EQ(notices.size(), 1u);
  const ProcessEnd& end = std::get<SeenEnd>(notices.front()).end;
  EXPECT_EQ(end.pid, by_status.pid());
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.status, 130);
}

TEST_F(Notices, DoNotComeOfOtherEndsNorOfOtherProcesses) {
  Program other("hot", {}), ends_well("hot", {}), fails("hot", {}), told_to("hot", {});
  Target chosen = process(ends_well.pid());
  for (const Program* one : {&fails, &told_to}) chosen.pids.push_back(one->pid());
  watch(chosen);
  ends_well.end_input();
  ends_well.wait_for_end();
  fails.send("exit 3");
  fails.wait_for_end();
  ::kill(told_to.pid(), SIGTERM);
  told_to.wait_for_end();
  ::kill(other.pid(), SIGSEGV);
  other.wait_for_end();
  EXPECT_TRUE(engine->notices().take().empty());
}

TEST_F(Notices, DoNotComeOfCrashesWhereNobodyWatches) {
  Program one("hot", {}), another("hot", {});
  Target both = process(one.pid());
  both.pids.push_back(another.pid());
  watch(both);
  engine->notices().watch_ends({});
  ::kill(one.pid(), SIGSEGV);
  one.wait_for_end();
  EXPECT_FALSE(is_readable());
  engine->notices().watch_ends(crashes());
  EXPECT_EQ(crash_of(another, SIGSEGV).end.pid, another.pid());
}

}  // namespace
}  // namespace tracectl::on_kernel
