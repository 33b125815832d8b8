// SPDX-License-Identifier: BSD-2-Clause
//
// Rows by stack and by caller, compared with the program's calls according to its source
// (tests/targets/stacks.h).
#include <algorithm>

#include "tests/support/held_reader.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

constexpr uint64_t kCalls = 50;

bool knows_all(const Stack& stack) {
  return std::all_of(stack.frames.begin(), stack.frames.end(),
                     [](const Frame& frame) { return !frame.module.empty() && !frame.address; });
}

// The known callers of the function, up to main.
std::vector<std::string> callers_up_to_main(size_t depth) {
  std::vector<std::string> names(depth, "deep");
  names.insert(names.end(), {"middle", "outer", "work", "main"});
  return names;
}

class KeyStackTest : public KernelTest {
 protected:
  void run_to_its_end(Program& program) {
    program.run();
    program.send("exit");
    program.wait_for_end();
  }

  // Traces processes that execute the two programs of tests/targets/exec_chain.h.
  void set_in_both(const std::string& action) {
    Target both;
    both.executables = {target_path("exec_first"), target_path("exec_second")};
    create("s");
    set("s", "u::*_leaf", both, action);
  }
  // Counts by the names of leaf and its caller.
  std::map<std::vector<std::string>, uint64_t> counts_by_name() {
    std::map<std::vector<std::string>, uint64_t> counts;
    for (const auto& [stack, row] : rows("count")) counts[functions(stack)] += row.count;
    return counts;
  }

  // Rows of this aggregate, each with the stack that is its only key.
  std::vector<std::pair<Stack, Row>> rows(const std::string& aggregate) {
    std::vector<std::pair<Stack, Row>> found;
    for (const auto& [key, row] : read("s").rows)
      if (key.aggregate.starts_with(aggregate))
        found.emplace_back(std::get<Stack>(key.by.at(0).value), row);
    return found;
  }
};

using KeyStacks = KeyStackTest;

TEST_F(KeyStacks, AreThoseThatTheProgramMakes) {
  create("s");
  Program program("stacks", {std::to_string(kCalls), "3"});
  set("s", "u::leaf", process(program.pid()), "count by stack, sum(arg0) by stack(2)");
  run_to_its_end(program);

  const auto counts = rows("count"), sums = rows("arg0");
  ASSERT_EQ(counts.size(), 1u);
  auto names = functions(counts[0].first);
  auto wanted = callers_up_to_main(3);
  wanted.insert(wanted.begin(), "leaf");
  ASSERT_GE(names.size(), wanted.size());
  names.resize(wanted.size());  // the C library keeps no frame pointers
  EXPECT_EQ(names, wanted);
  EXPECT_EQ(counts[0].second.count, kCalls);
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(functions(sums[0].first), (std::vector<std::string>{"leaf", "deep"}));
  EXPECT_EQ(sums[0].first.end, StackEnd::limit);
  EXPECT_EQ(sums[0].second.sum, kCalls * (kCalls + 1) / 2);  // n + 1 for n = 0, 1, ...
}

TEST_F(KeyStacks, CallersAreKnownWithoutFramePointersAndBehindTheFunctionsFirstInstruction) {
  create("s");
  Program program("stacks_no_fp", {std::to_string(kCalls), "2"});
  set("s", "u::leaf_moved", process(program.pid()), "count by caller");
  set("s", "u::outer", process(program.pid()), "count by caller");
  run_to_its_end(program);
  std::map<std::string, uint64_t> counts;
  for (const auto& [caller, row] : rows("count")) {
    ASSERT_EQ(caller.frames.size(), 1u);
    counts[caller.frames[0].function] += row.count;
  }
  EXPECT_EQ(counts, (std::map<std::string, uint64_t>{{"deep", kCalls}, {"work", kCalls}}));
}

TEST_F(KeyStacks, AtTheEndOfACallBeginWithItsCaller) {
  for (const Returns returns : {Returns::exits, Returns::trampoline}) {
    start({});
    create("s");
    Program program("stacks", {std::to_string(kCalls), "2"});
    Setting timed =
        setting("u::leaf_moved", process(program.pid()), "time by caller, hist(duration) by stack");
    timed.returns = returns;
    must(engine->drafts().set("s", {timed}));
    must(engine->commits().commit("s", {}));
    run_to_its_end(program);
    const auto callers = rows("time"), stacks = rows("hist(duration)");
    SCOPED_TRACE(returns == Returns::exits ? "by exits" : "by trampoline");
    ASSERT_EQ(callers.size(), 1u);
    EXPECT_EQ(functions(callers[0].first), std::vector<std::string>{"deep"});
    EXPECT_EQ(callers[0].second.count, kCalls);
    ASSERT_EQ(stacks.size(), 1u);
    auto names = functions(stacks[0].first);
    const auto wanted = callers_up_to_main(2);
    ASSERT_GE(names.size(), wanted.size());
    names.resize(wanted.size());
    EXPECT_EQ(names, wanted);
  }
}

// Each process has the code at different addresses, and has ended when the rows are read.
TEST_F(KeyStacks, AreOneRowForAllProcessesThatCallAlikeAndOutliveThem) {
  create("s");
  Target all_that_run_it;
  all_that_run_it.executables = {target_path("stacks")};
  set("s", "u::leaf", all_that_run_it, "count by stack(4)");
  for (int i = 0; i < 3; ++i) {
    Program program("stacks", {std::to_string(kCalls), "1"});
    program.run();
    must(engine->streams().flush("s"));  // the reader has read its mappings
    program.send("exit");
    program.wait_for_end();
  }
  const auto counts = rows("count");
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts[0].second.count, 3 * kCalls);
  EXPECT_EQ(functions(counts[0].first),
            (std::vector<std::string>{"leaf", "deep", "middle", "outer", "work"}));
  EXPECT_TRUE(knows_all(counts[0].first));
}

// The table of stacks is emptied when no setting has such keys any more; earlier rows keep theirs.
TEST_F(KeyStacks, StayInRowsWhoseSettingIsGone) {
  create("s");
  Program program("stacks", {std::to_string(kCalls), "1"});
  set("s", "u::leaf", process(program.pid()), "count by caller");
  program.run();
  set("s", "u::leaf", process(program.pid()), "count by tid");
  create("t");
  set("t", "u::outer", process(program.pid()), "count by caller");
  const Results results = read("s");
  std::map<std::string, uint64_t> by_caller;
  for (const auto& [key, row] : results.rows)
    if (const auto* caller = std::get_if<Stack>(&key.by.at(0).value))
      by_caller[functions(*caller).at(0)] += row.count;
  EXPECT_EQ(by_caller, (std::map<std::string, uint64_t>{{"deep", kCalls}}));
}

TEST_F(KeyStacks, AreOfTheProgramThatTheProcessExecutedThen) {
  set_in_both("count by stack(2)");
  Program program("exec_first", {std::to_string(kCalls), target_path("exec_second")});
  const auto first = parsed(program.run());
  must(engine->streams().flush("s"));  // the reader has read its mappings
  program.leave();
  const auto second = parsed(program.run());
  ASSERT_EQ(first["leaf"], second["leaf"]);
  const std::map<std::vector<std::string>, uint64_t> wanted{
      {{"first_leaf", "first_caller"}, kCalls}, {{"second_leaf", "second_caller"}, kCalls}};
  EXPECT_EQ(counts_by_name(), wanted);
  program.send("exit");
  program.wait_for_end();
  EXPECT_EQ(counts_by_name(), wanted);
}

TEST_F(KeyStacks, OfAProgramThatNobodyLookedAtInTimeAreNotNamedByTheNext) {
  set_in_both("event, count by stack(2)");
  HeldReader reader(*engine, "s");
  Program other("exec_first", {"1"});
  Program program("exec_first", {std::to_string(kCalls), target_path("exec_second")});
  other.run();
  reader.wait_until_held();
  program.run();
  program.leave();
  program.run();
  reader.let_go();
  EXPECT_EQ(counts_by_name(), (std::map<std::vector<std::string>, uint64_t>{
                                  {{"first_leaf", "first_caller"}, 1},
                                  {{"", ""}, kCalls},
                                  {{"second_leaf", "second_caller"}, kCalls}}));
}

TEST_F(KeyStacks, TheCallerIsRefusedWhereNobodyKnowsIt) {
  create("s");
  Program program("usdt_all", {});
  const auto refused = stage("s", "usdt::all:*", process(program.pid()), "count by caller");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("function's entry"), std::string::npos)
      << refused.error().message;
  must(stage("s", "usdt::all:*", process(program.pid()), "count by stack"));
  EXPECT_TRUE(engine->commits().commit("s", {}));
}

}  // namespace
}  // namespace tracectl::on_kernel
