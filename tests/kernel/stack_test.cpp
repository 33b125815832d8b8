// SPDX-License-Identifier: BSD-2-Clause
//
// Stacks, compared with the program's own backtrace(3), and with its source
// (tests/targets/stacks.h).
#include <fstream>

#include "tests/support/collector.h"
#include "tests/support/held_reader.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

constexpr const char* kSource = "tests/targets/stacks.h";

// The frames of the functions themselves, without functions inlined into them.
std::vector<Frame> own_frames(const Stack& stack) {
  std::vector<Frame> own;
  for (const Frame& frame : stack.frames)
    if (!frame.inlined) own.push_back(frame);
  return own;
}

std::vector<uint64_t> callers(const Stack& stack) {
  std::vector<uint64_t> addresses;
  for (const Frame& frame : own_frames(stack)) addresses.push_back(frame.address);
  addresses.erase(addresses.begin());
  return addresses;
}

// The number of the source line with this text.
unsigned line_with(const std::string& text) {
  std::ifstream source(build_folder() + "/../" + kSource);
  std::string line;
  for (unsigned number = 1; std::getline(source, line); ++number)
    if (line.find(text) != std::string::npos) return number;
  throw std::runtime_error("no such line: " + text);
}

class StackTest : public KernelTest {
 protected:
  // The events of the function while the program runs. said_ is the program's report.
  std::vector<Event> trace(Program& program, const std::string& function,
                           const std::string& action) {
    create("s");
    auto sink = std::make_shared<Collector>();
    must(engine->streams().subscribe("s", sink));
    set("s", "u::" + function, process(program.pid()), action);
    said_ = parsed(program.run());
    program.send("exit");
    program.wait_for_end();
    must(engine->streams().flush("s"));
    return events_of(*sink);
  }
  Stack stack_of(Program& program, const std::string& function, const std::string& action) {
    const auto events = trace(program, function, action);
    if (events.empty() || !events.front().stack)
      throw std::runtime_error(std::to_string(events.size()) + " events came, " +
                               std::to_string(engine->streams().stats().malformed) +
                               " malformed, " + std::to_string(read("s").totals.hits) +
                               " hits, no stack");
    return *events.front().stack;
  }
  std::vector<uint64_t> said_callers() const { return said_["backtrace"]; }

  nlohmann::json said_;
};

using Stacks = StackTest;

TEST_F(Stacks, ByUnwindTablesAreWhatTheProgramFindsItself) {
  for (const char* name : {"stacks", "stacks_no_fp"}) {
    start({});
    Program program(name, {"1", "4"});
    const Stack stack = stack_of(program, "leaf", "stack(127)");
    EXPECT_EQ(stack.by, StackBy::unwind_tables) << name;
    EXPECT_EQ(stack.end, StackEnd::outermost) << name;
    const Frame& leaf = stack.frames.front();
    EXPECT_EQ(leaf.function, "leaf") << name;
    EXPECT_EQ(leaf.address - leaf.function_offset, said_["leaf"].get<uint64_t>()) << name;
    EXPECT_EQ(callers(stack), said_callers()) << name;
    EXPECT_EQ(stack.frames.back().function, "_start") << name;
  }
}

// They end at the C library, which has no frame pointers.
TEST_F(Stacks, ByFramePointersAreWhatTheProgramFindsItselfUpToMain) {
  constexpr size_t kDepth = 40;
  Program program("stacks", {"1", std::to_string(kDepth)});
  const Stack stack = stack_of(program, "leaf", "stack(127, frame_pointers)");
  EXPECT_EQ(stack.by, StackBy::frame_pointers);
  auto found = callers(stack), wanted = said_callers();
  constexpr size_t kUpToMain = kDepth + 3;  // deep..., outer, work, main
  ASSERT_GE(found.size(), kUpToMain);
  ASSERT_GE(wanted.size(), kUpToMain);
  found.resize(kUpToMain);
  wanted.resize(kUpToMain);
  EXPECT_EQ(found, wanted);
}

TEST_F(Stacks, OfAFunctionWithoutAFramePointerHaveItsCallerAllTheSame) {
  Program program("stacks_no_fp", {"1", "1"});
  const Stack stack = stack_of(program, "leaf_moved", "stack(frame_pointers)");
  ASSERT_GE(stack.frames.size(), 2u);
  EXPECT_EQ(stack.frames[0].function, "leaf_moved");
  EXPECT_EQ(stack.frames[1].function, "deep");
}

TEST_F(Stacks, NameFunctionsLinesAndWhatWasInlined) {
  Program program("stacks_no_fp", {"1", "1"});
  const Stack stack = stack_of(program, "leaf", "stack");
  auto names = functions(stack);
  ASSERT_GE(names.size(), 6u);
  names.resize(6);
  EXPECT_EQ(names, (std::vector<std::string>{"leaf", "deep", "middle", "outer", "work", "main"}));
  const Frame &middle = stack.frames[2], &outer = stack.frames[3];
  EXPECT_TRUE(middle.inlined);
  EXPECT_TRUE(middle.file.ends_with("stacks.h")) << middle.file;
  EXPECT_EQ(middle.line, line_with("line of middle's call"));
  EXPECT_FALSE(outer.inlined);
  EXPECT_EQ(outer.line, line_with("line of outer's call"));
  EXPECT_EQ(outer.module, program.path());
  EXPECT_FALSE(outer.build_id.empty());
}

TEST_F(Stacks, SayWhereTheyAreCutOff) {
  for (const char* by : {"frame_pointers", "unwind_tables"}) {
    start({});
    Program program("stacks", {"1", "10"});
    const Stack stack = stack_of(program, "leaf", std::string("stack(5, ") + by + ")");
    EXPECT_EQ(own_frames(stack).size(), 5u) << by;
    EXPECT_EQ(stack.end, StackEnd::limit) << by;
  }
}

TEST_F(Stacks, LongerThanTheCopyAreCutOffThereWithTheRestRight) {
  Program program("stacks_no_fp", {"1", "120"});
  const Stack stack = stack_of(program, "leaf", "stack(127)");
  EXPECT_EQ(stack.end, StackEnd::end_of_copy);
  auto found = callers(stack), wanted = said_callers();
  ASSERT_GT(found.size(), 20u);
  ASSERT_GT(wanted.size(), found.size());
  wanted.resize(found.size());
  EXPECT_EQ(found, wanted);
}

// At the end of a page, with the next one unused.
TEST_F(Stacks, AreWholeWhereTheRedZoneIsNotThere) {
  Program program("stack_edge", {});
  const Stack stack = stack_of(program, "on_edge", "stack(unwind_tables)");
  ASSERT_LT(said_.at("below").get<uint64_t>(), 128u);
  const auto own = own_frames(stack);
  ASSERT_GE(own.size(), 3u);
  EXPECT_EQ(own[0].function, "on_edge");
  EXPECT_EQ(own[1].function, "above_edge");
  EXPECT_EQ(own[2].function, "go_down");
  EXPECT_EQ(stack.end, StackEnd::end_of_copy);  // the rest is much further up
}

TEST_F(Stacks, GoWithValuesAndWithEveryHit) {
  constexpr uint64_t kCalls = 200;
  Program program("stacks_no_fp", {std::to_string(kCalls), "1"});
  const auto events = trace(program, "leaf", "event(arg0 + 1, comm), stack(unwind_tables)");
  ASSERT_EQ(events.size(), kCalls);
  for (uint64_t n = 0; n < kCalls; ++n) {
    EXPECT_EQ(events[n].args[0], n + 2);
    EXPECT_EQ(events[n].strings.at(0), "stacks_no_fp");
    ASSERT_TRUE(events[n].stack);
    EXPECT_EQ(callers(*events[n].stack), said_callers());
  }
}

// The two programs of tests/targets/exec_chain.h, executed by any process.
class ExecutedStackTest : public StackTest {
 protected:
  static constexpr size_t kCalls = 5;

  void set_in_both(const std::string& how) {
    Target both;
    both.executables = {target_path("exec_first"), second_};
    create("s");
    set("s", "u::*_leaf", both, "stack(3, " + how + ")");
  }
  // Lets both programs make their calls, one after the other in the same process.
  void run_first(Program& program) { address_ = parsed(program.run())["leaf"]; }
  void run_second(Program& program) {
    program.leave();
    ASSERT_EQ(parsed(program.run())["leaf"], address_);
  }
  // The names of leaf and its caller in each stack of the process.
  std::vector<std::vector<std::string>> named(const std::vector<Event>& events, pid_t pid) {
    std::vector<std::vector<std::string>> all;
    for (const Event& event : events) {
      if (event.pid != pid) continue;
      auto names = functions(*event.stack);
      names.resize(std::min<size_t>(names.size(), 2));
      all.push_back(names);
    }
    return all;
  }

  const std::string second_ = target_path("exec_second");
  const std::vector<std::string> arguments_{std::to_string(kCalls), second_};
  const std::vector<std::string> of_first_{"first_leaf", "first_caller"};
  const std::vector<std::string> of_second_{"second_leaf", "second_caller"};

 private:
  uint64_t address_ = 0;
};

using ExecutedStacks = ExecutedStackTest;

TEST_F(ExecutedStacks, AreOfTheProgramThatTheProcessExecutedThen) {
  for (const char* how : {"frame_pointers", "unwind_tables"}) {
    SCOPED_TRACE(how);
    start({});
    set_in_both(how);
    auto sink = std::make_shared<Collector>();
    must(engine->streams().subscribe("s", sink));
    Program program("exec_first", arguments_);
    run_first(program);
    must(engine->streams().flush("s"));  // the reader has read its mappings
    run_second(program);
    must(engine->streams().flush("s"));
    std::vector<std::vector<std::string>> wanted(kCalls, of_first_);
    wanted.insert(wanted.end(), kCalls, of_second_);
    EXPECT_EQ(named(events_of(*sink), program.pid()), wanted);
  }
}

TEST_F(ExecutedStacks, OfAProgramThatNobodyLookedAtInTimeAreNotNamedByTheNext) {
  for (const char* how : {"frame_pointers", "unwind_tables"}) {
    SCOPED_TRACE(how);
    start({});
    set_in_both(how);
    HeldReader reader(*engine, "s");
    Program other("exec_first", {"1"}), program("exec_first", arguments_);
    other.run();
    reader.wait_until_held();
    run_first(program);
    run_second(program);
    reader.let_go();
    must(engine->streams().flush("s"));
    const auto names = named(reader.events(), program.pid());
    ASSERT_EQ(names.size(), 2 * kCalls);
    for (size_t i = 0; i < names.size(); ++i)
      if (i < kCalls)
        EXPECT_EQ(names[i], std::vector<std::string>(names[i].size()));
      else
        EXPECT_EQ(names[i], of_second_);
  }
}

// python3.11 uses rbp for data.
TEST_F(Stacks, OfAProgramOfDebianReachItsBeginning) {
  Program python("/usr/bin/python3.11", {"-c",
                                         "import os, sys\n"
                                         "print('ready', os.getpid(), flush=True)\n"
                                         "sys.stdin.readline()\n"
                                         "[sorted(i) for i in ((3, 2), (1, 0))]\n"
                                         "print('done\\n{}', flush=True)\n"
                                         "sys.stdin.readline()\n"});
  const Stack stack = stack_of(python, "PyList_New", "stack(127)");
  EXPECT_EQ(stack.by, StackBy::unwind_tables);
  EXPECT_EQ(stack.end, StackEnd::outermost);
  const auto names = functions(stack);
  EXPECT_EQ(names.front(), "PyList_New");
  EXPECT_EQ(std::count(names.begin(), names.end(), "Py_BytesMain"), 1);
  EXPECT_EQ(names.back(), "_start");
}

}  // namespace
}  // namespace tracectl::on_kernel
