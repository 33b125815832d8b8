// SPDX-License-Identifier: BSD-2-Clause
//
// Graphs that grow by observed calls while the program runs (tests/targets/grow.c): added functions
// are shown where they are called, and the commits that add them lose and split no call.
#include <algorithm>
#include <map>
#include <thread>

#include "daemon/base/clock.h"
#include "tests/support/collected.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

const std::string kAtFirst = "grow_root(by_table()by_register()by_member()by_variable()by_jump())";
const std::string kGrown =
    "grow_root(by_table(grow_a())by_register(grow_b(grow_inner()))by_member(grow_c())"
    "by_variable(plugin_work(plugin_inner()))by_jump()grow_e())";

// The call that stays open from before all additions until the end.
const std::string kHeld = "grow_root(hold()" + kGrown.substr(kGrown.find('(') + 1);

struct Tree {
  uint64_t begun_ns = 0, ended_ns = 0;
  std::string text;
};

// The trees of the roots' calls in one thread. Fails if an end is not that of the innermost call.
class ThreadTrees {
 public:
  void add(const Event& event) {
    if (event.kind == EventKind::hit)
      begin(event);
    else
      end(event);
  }

  const std::vector<Tree>& all() const {
    EXPECT_TRUE(open_.empty()) << trees_.back().text;
    return trees_;
  }

 private:
  void begin(const Event& event) {
    ASSERT_NE(event.call->number, 0u);
    if (open_.empty()) trees_.push_back({event.ts_ns, 0, ""});
    open_.push_back(event.call->number);
    trees_.back().text += function_of(event.source->probe) + "(";
  }

  void end(const Event& event) {
    ASSERT_FALSE(open_.empty()) << event.source->probe;
    ASSERT_EQ(open_.back(), event.call->number);
    open_.pop_back();
    trees_.back().text += ")";
    trees_.back().ended_ns = event.ts_ns;
  }

  std::vector<uint32_t> open_;
  std::vector<Tree> trees_;
};

class Growing : public KernelTest {
 protected:
  Setting root(GraphScope scope = {.only = {}, .skip = {}, .beside = {}, .grow = true}) {
    Setting set = setting("u::grow_root", process(program_.pid()), "graph");
    set.graph = std::move(scope);
    return set;
  }

  void begin(const Setting& setting) {
    create("s");
    sink_ = std::make_shared<Collected>();
    must(engine->streams().subscribe("s", sink_));
    must(engine->drafts().set("s", {setting}));
    must(engine->commits().commit("s", {}));
    program_.send("go");
  }

  void grow() {
    const auto grown = must(engine->graph_growth().grow("s"));
    for (const std::string& probe : grown.added) added_.insert(function_of(probe));
    refused_.insert(refused_.end(), grown.refused.begin(), grown.refused.end());
    unknown_ = grown.unknown;
  }

  // Grows the graph until these have been added.
  void grow_until_added(const std::set<std::string>& functions) {
    until([&] {
      grow();
      return std::ranges::includes(added_, functions);
    });
    grown_ns_ = boot_ns();
  }

  // The trees of all threads, one thread after another, in order.
  std::vector<Tree> trees() {
    program_.send("stop");
    roots_ = parsed(program_.finish())["roots"];
    must(engine->streams().flush("s"));
    std::map<pid_t, ThreadTrees> threads;
    for (const Event& event : sink_->events()) threads[event.tid].add(event);
    std::vector<Tree> all;
    for (const auto& [tid, of_thread] : threads)
      all.insert(all.end(), of_thread.all().begin(), of_thread.all().end());
    return all;
  }

  // Waits for `count` calls of the root that began after everything was added.
  void wait_for_roots(size_t count) {
    until([&] {
      must(engine->streams().flush("s"));
      const auto events = sink_->events();
      return static_cast<size_t>(std::ranges::count_if(events, [&](const Event& event) {
               return event.ts_ns > grown_ns_ && event.kind == EventKind::hit &&
                      function_of(event.source->probe) == "grow_root";
             })) >= count;
    });
  }

  Program program_{"grow", {target_path("grow_plugin"), "3"}};
  std::shared_ptr<Collected> sink_;
  std::set<std::string> added_;
  std::vector<Refusal> refused_;
  size_t unknown_ = 0;
  uint64_t grown_ns_ = 0, roots_ = 0;
};

const std::set<std::string> kAllFunctions{"grow_a",     "grow_b",       "grow_c",     "grow_e",
                                          "grow_inner", "plugin_inner", "plugin_work"};

// Calls by all kinds of instructions, in the file and in one that was loaded later, and the
// functions reached from there.
TEST_F(Growing, ShowWhatIsCalledByPointersWhereItIs) {
  begin(root());
  grow_until_added(kAllFunctions);
  EXPECT_EQ(added_, kAllFunctions);
  wait_for_roots(300);
  size_t whole = 0;
  for (const Tree& tree : trees()) {
    if (tree.begun_ns < grown_ns_) continue;
    ++whole;
    EXPECT_EQ(tree.text, kGrown);
  }
  EXPECT_GE(whole, 300u);
}

TEST_F(Growing, LosesAndTearsNoCallThatIsOpenMeanwhile) {
  begin(root());
  grow_until_added(kAllFunctions);
  wait_for_roots(10);
  const auto all = trees();
  EXPECT_EQ(all.size(), roots_);
  EXPECT_GT(std::ranges::count(all, kAtFirst, &Tree::text), 0);
  EXPECT_EQ(std::ranges::count(all, kHeld, &Tree::text), 1);
}

TEST_F(Growing, NamesWhatItDoesNotGrowBy) {
  begin(root());
  grow_until_added(kAllFunctions);
  until([&] {
    grow();
    return !refused_.empty() && unknown_ == 1;  // code that is in no file
  });
  ASSERT_EQ(refused_.size(), 1u);
  EXPECT_EQ(function_of(refused_[0].probe), "abs");
}

TEST_F(Growing, GoesOnWhereOneOfTheProcessesHasEnded) {
  Program other("grow", {target_path("grow_plugin"), "1"});
  Setting both = root();
  both.target.pids.push_back(other.pid());
  begin(both);
  other.end_input();
  other.wait_for_end();
  grow_until_added(kAllFunctions);
  wait_for_roots(100);
  for (const Tree& tree : trees())
    if (tree.begun_ns > grown_ns_) {
      EXPECT_EQ(tree.text, kGrown);
    }
}

// Observed calls stay true of the program, and are not searched for twice.
TEST_F(Growing, StaysWhereTheGraphIsStagedAnew) {
  begin(root());
  grow_until_added(kAllFunctions);
  Setting again = root();
  again.spec = must(parse_spec("graph(9)"));
  must(engine->drafts().set("s", {again}));
  must(engine->commits().commit("s", {}));
  const uint64_t staged_ns = boot_ns();
  EXPECT_EQ(must(engine->graph_growth().grow("s")).added, std::vector<std::string>{});
  until([&] {
    must(engine->streams().flush("s"));
    return std::ranges::any_of(sink_->events(), [&](const Event& event) {
      return event.ts_ns > staged_ns && function_of(event.source->probe) == "plugin_inner";
    });
  });
}

TEST_F(Growing, IsNoCommitWhereNothingIsNew) {
  begin(root());
  grow_until_added(kAllFunctions);
  wait_for_roots(10);
  const uint64_t epoch = engine->kernel().switching().epoch();
  const auto grown = must(engine->graph_growth().grow("s"));
  EXPECT_EQ(grown.added, std::vector<std::string>{});
  EXPECT_EQ(grown.refused.size(), 0u);
  EXPECT_EQ(engine->kernel().switching().epoch(), epoch);
}

TEST_F(Growing, LeavesOutWhatIsToBeSkipped) {
  begin(root({.only = {}, .skip = {"grow_b", "plugin_inner"}, .beside = {}, .grow = true}));
  grow_until_added({"grow_a", "grow_c", "grow_e", "plugin_work"});
  EXPECT_EQ(added_, (std::set<std::string>{"grow_a", "grow_c", "grow_e", "plugin_work"}));
}

TEST_F(Growing, CountsNothingThatSomebodyIsShown) {
  begin(root());
  grow_until_added(kAllFunctions);
  EXPECT_TRUE(read("s").rows.empty());
  EXPECT_TRUE(read("s", true).rows.empty());
  EXPECT_TRUE(read("s").rows.empty());
}

TEST_F(Growing, IsNothingForSessionsWithDraftsOrOtherGraphs) {
  create("s");
  Setting set = root({});
  must(engine->drafts().set("s", {set}));
  const auto staged = engine->graph_growth().grow("s");
  ASSERT_FALSE(staged);
  EXPECT_EQ(staged.error().code, Code::busy);
  must(engine->commits().commit("s", {}));
  const auto other = engine->graph_growth().grow("s");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::invalid);
}

}  // namespace
}  // namespace tracectl::on_kernel
