// SPDX-License-Identifier: BSD-2-Clause
//
// What a switch promises, held against what the traced program counted itself.
#include <sys/resource.h>

#include <map>
#include <mutex>

#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

using NoSeam = KernelTest;
using NothingFollows = KernelTest;

// Of each thread the recorded calls as unbroken rows of call numbers, each under one epoch.
class Rows : public EventSink {
 public:
  struct Row {
    uint64_t epoch = 0, first = 0, last = 0;
  };

  void take(std::span<const StreamItem> items) override {
    const std::lock_guard lock(mutex_);
    for (const StreamItem& item : items)
      if (const auto* event = std::get_if<Event>(&item))
        add(by_thread_[event->tid], event->epoch, event->args.at(0).value());
      else
        lost_ += std::get<Lost>(item).count;
  }

  std::map<pid_t, std::vector<Row>> by_thread() const {
    const std::lock_guard lock(mutex_);
    return by_thread_;
  }
  uint64_t lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
  }
  uint64_t events() const {
    uint64_t count = 0;
    for (const auto& [tid, rows] : by_thread())
      for (const Row& row : rows) count += row.last - row.first + 1;
    return count;
  }

 private:
  static void add(std::vector<Row>& rows, uint64_t epoch, uint64_t call) {
    if (!rows.empty() && rows.back().epoch == epoch && rows.back().last + 1 == call)
      rows.back().last = call;
    else
      rows.push_back({epoch, call, call});
  }

  mutable std::mutex mutex_;
  std::map<pid_t, std::vector<Row>> by_thread_;
  uint64_t lost_ = 0;
};

class Switches : public KernelTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "arming probes needs root";
    start({.ring_bytes = 64 << 20});  // a lost event would be a gap
  }

  // On and off so many times. Consecutive calls of a thread are of different functions: a set that
  // is not switched as a whole leaves a gap in a row, or starts a second one.
  void expect_whole_switches(Program& program, const char* all, size_t times) {
    create("s");
    const auto rows = std::make_shared<Rows>();
    must(engine->subscribe("s", rows));
    for (size_t i = 0; i < times; ++i) {
      set("s", all, process(program.pid()), "event");
      must(engine->stage_remove("s", {must(parse_pattern(all))}, std::nullopt));
      must(engine->commit("s", {}));
    }
    must(engine->flush("s"));
    EXPECT_EQ(rows->lost(), 0u);
    size_t count = 0;
    for (const auto& [tid, of_thread] : rows->by_thread()) {
      count += of_thread.size();
      for (size_t i = 1; i < of_thread.size(); ++i)
        ASSERT_LT(of_thread[i - 1].epoch, of_thread[i].epoch)
            << "thread " << tid << " has a gap behind call " << of_thread[i - 1].last;
    }
    EXPECT_GE(count, times);
    program.send("stop");
    program.finish();
  }
};

TEST_F(Switches, OfSitesThatAreArmedWithThemAreWhole) {
  Program program("counters", {"2", "0", "100"});
  program.send("go");
  expect_whole_switches(program, "uprobe::f00*", 20);
}

TEST_F(Switches, OfAThousandSitesThatAnotherSessionHoldsAreWhole) {
  Program program("counters", {"4", "0", "1000"});
  create("holder");
  set("holder", "uprobe::f0*", process(program.pid()), "count");
  program.send("go");
  expect_whole_switches(program, "uprobe::f0*", 100);
}

TEST_F(NoSeam, AThousandReplacementsLoseAndDoubleNothing) {
  Program program("counters", {"2", "0", "100"});
  const auto target = process(program.pid());
  create("s");
  set("s", "uprobe::f00*", target, "count");
  program.send("go");
  for (int i = 0; i < 1000; ++i) set("s", "uprobe::f00*", target, i % 2 ? "count" : "count by tid");
  program.send("stop");
  const auto said = parsed(program.finish());
  EXPECT_EQ(sum(read("s")), said["total"].get<uint64_t>());
  EXPECT_EQ(read("s").totals.dropped_keys, 0u);
}

TEST_F(NothingFollows, BehindTheFlushThatFollowsARemoval) {
  Program program("counters", {"2", "0", "100"});
  const auto target = process(program.pid());
  create("s");
  create("witness");
  const auto rows = std::make_shared<Rows>();
  must(engine->subscribe("s", rows));
  set("witness", "uprobe::f00*", target, "count");
  program.send("go");
  for (int i = 0; i < 10; ++i) {
    set("s", "uprobe::f00*", target, "event");
    const uint64_t before = rows->events();
    until([&] { return rows->events() > before; });
    must(engine->stage_remove("s", {must(parse_pattern("uprobe::f00*"))}, std::nullopt));
    must(engine->commit("s", {}));
    must(engine->flush("s"));
    const uint64_t then = rows->events();
    const uint64_t calls = sum(read("witness"));
    until([&] { return sum(read("witness")) > calls + 10'000; });
    must(engine->flush("s"));
    EXPECT_EQ(rows->events(), then);
  }
  program.send("stop");
  program.finish();
}

// ---- a failed commit ----

class FailingCommits : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped()) return;
    create("s");
    set("s", "uprobe::f00*", process(program.pid()), "count");
    before = armed_sites();
    program.send("go");
  }

  // A site that has been hit differs from the file in more bytes than its first.
  std::vector<uint64_t> armed_sites() const {
    std::vector<uint64_t> sites;
    uint64_t last = 0;
    for (const uint64_t offset : changed_code(program.pid(), program.path())) {
      if (offset != last + 1) sites.push_back(offset);
      last = offset;
    }
    return sites;
  }

  // The old settings went on, without a gap, and no site came or went.
  void expect_nothing_changed() {
    EXPECT_EQ(armed_sites(), before);
    program.send("stop");
    const auto said = parsed(program.finish());
    EXPECT_EQ(sum(read("s")), said["total"].get<uint64_t>());
  }

  Program program{"counters", {"2", "0", "100"}};
  std::vector<uint64_t> before;
};

TEST_F(FailingCommits, OneRefusedSiteAmongTenThousand) {
  Program many("many", {}), refused("refused", {"1"});
  must(stage("s", "uprobe::m*[0-9]", process(many.pid()), "count"));
  must(stage("s", "uprobe::refused_lock", process(refused.pid()), "count"));
  const auto failed = engine->commit("s", {});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("refused_lock"), std::string::npos);
  EXPECT_TRUE(changed_code(many.pid(), many.path()).empty());
  expect_nothing_changed();
}

TEST_F(FailingCommits, TheTargetEndsBeforeItsCommit) {
  auto many = std::make_unique<Program>("many", std::vector<std::string>{});
  const pid_t pid = many->pid();
  must(stage("s", "uprobe::m*[0-9]", process(pid), "count"));
  many.reset();
  const auto failed = engine->commit("s", {});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find(std::to_string(pid)), std::string::npos)
      << failed.error().message;
  expect_nothing_changed();
}

class DescriptorLimit {
 public:
  // Room for `more` descriptors than there are.
  explicit DescriptorLimit(int more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const Fd next{::dup(0)};
    rlimit lower = before_;
    lower.rlim_cur = static_cast<rlim_t>(next.get() + more);
    ::setrlimit(RLIMIT_NOFILE, &lower);
  }
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(FailingCommits, DescriptorsRunOutAtAnyMoment) {
  Program many("many", {});
  must(stage("s", "uprobe::m0000*", process(many.pid()), "event"));
  int failures = 0;
  for (int more = 0;; ++more) {
    const auto committed = [&] {
      const DescriptorLimit limit(more);
      return engine->commit("s", {});
    }();
    if (committed) break;
    ++failures;
    EXPECT_TRUE(changed_code(many.pid(), many.path()).empty());
  }
  EXPECT_GT(failures, 3);
  expect_nothing_changed();
}

TEST_F(FailingCommits, TheTableOfHooksIsFull) {
  Program many("many", {});
  const auto target = process(many.pid());
  std::optional<Error> full;
  for (int i = 0; !full && i < 20; ++i) {
    const std::string name = "filler-" + std::to_string(i);
    create(name);
    must(stage(name, "uprobe::m*[0-9]", target, "count"));
    if (auto committed = engine->commit(name, {}); !committed) full = committed.error();
  }
  ASSERT_TRUE(full);
  EXPECT_EQ(full->code, Code::exhausted) << full->message;
  must(stage("s", "uprobe::m*[0-9]", target, "count"));
  EXPECT_FALSE(engine->commit("s", {}));
  expect_nothing_changed();
}

}  // namespace
}  // namespace tracectl::on_kernel
