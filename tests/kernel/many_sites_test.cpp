// SPDX-License-Identifier: BSD-2-Clause
//
// More sites than the table of slots has at the start, compared with what the program calls.
#include <map>
#include <mutex>

#include "bpf/abi.h"
#include "daemon/model/shares.h"
#include "tests/support/restarts.h"
#include "tests/support/tracer.h"
#include "tests/support/users_file.h"

namespace tracectl::on_kernel {
namespace {

constexpr const char* kAll = "u::s[0-9]*";
// More than the first slots, so that the slots of all other functions are in chunks.
constexpr const char* kMost = "u::s[1-7]*";
constexpr uint64_t kOfMost = 77'778;

uint64_t calls_of(Program& program, int step) {
  program.send("call " + std::to_string(step));
  return parsed(program.finish())["calls"].get<uint64_t>();
}

// Every function that was hit, with its count.
std::map<std::string, uint64_t> hit(const Results& results) {
  std::map<std::string, uint64_t> counts;
  for (const auto& [key, row] : results.rows)
    if (row.count) counts[function_of(key.probe)] += row.count;
  return counts;
}

std::map<std::string, uint64_t> each_once(int step) {
  std::map<std::string, uint64_t> counts;
  for (int n = step; n <= 100'000; n += step) counts["s" + std::to_string(n)] = 1;
  return counts;
}

class CountedEvents : public EventSink {
 public:
  void take(std::span<const StreamItem> items) override {
    const std::lock_guard lock(mutex_);
    for (const StreamItem& item : items)
      if (const auto* event = std::get_if<Event>(&item))
        ++events_[function_of(event->source->probe)];
  }
  std::map<std::string, uint64_t> take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }

 private:
  std::mutex mutex_;
  std::map<std::string, uint64_t> events_;
};

class ManySites : public KernelTest {
 protected:
  const Switching& switching() { return engine->kernel().switching(); }
};

TEST_F(ManySites, CountAsTheProgramCallsAndTakeMemoryByNeed) {
  Program program("sites", {});
  create("few");
  set("few", "u::s1", process(program.pid()), "count");
  EXPECT_EQ(switching().slots().size(), uint32_t{TC_FIRST_SLOTS});
  EXPECT_EQ(switching().hooks().size(), 0u);
  create("s");
  EXPECT_EQ(set("s", kAll, process(program.pid()), "count").sites, 100'000u);
  EXPECT_EQ(switching().slots().size(), uint32_t{TC_FIRST_SLOTS + TC_CHUNK_SLOTS});
  EXPECT_EQ(switching().hooks().size(), uint32_t{TC_CHUNK_HOOKS});
  EXPECT_EQ(calls_of(program, 50), 2000u);
  EXPECT_EQ(hit(read("s", true)), each_once(50));
  EXPECT_EQ(calls_of(program, 70), 1428u);
  EXPECT_EQ(hit(read("s")), each_once(70));
  must(engine->delete_session("s"));
  EXPECT_EQ(engine->slots().slot_ids.used(), 1u);
}

// A plan, and one that is refused for want of consent, make nothing.
TEST_F(ManySites, AreEstimatedWithTheirTablesBeforeAnythingIsMade) {
  Program program("sites", {});
  create("s");
  must(stage("s", kAll, process(program.pid()), "count"));
  const uint64_t cost = must(engine->commits().commit("s", {.dry_run = true})).cost.kernel_bytes;
  EXPECT_FALSE(engine->commits().commit("s", {.most_added = 10'000}));
  EXPECT_EQ(switching().slots().size(), uint32_t{TC_FIRST_SLOTS});
  EXPECT_EQ(cost, 100'000 * 480 + TC_CHUNK_SLOTS * sizeof(tc_slot));
}

TEST_F(ManySites, StreamBeyondTheFirstAndChangeWithOneSwitch) {
  Program program("sites", {});
  create("most");
  EXPECT_EQ(set("most", kMost, process(program.pid()), "count").sites, kOfMost);
  create("s");
  const auto sink = std::make_shared<CountedEvents>();
  must(engine->streams().subscribe("s", sink));
  set("s", "u::s8888*", process(program.pid()), "event");
  EXPECT_EQ(calls_of(program, 1), 100'000u);
  must(engine->streams().flush("s"));
  std::map<std::string, uint64_t> expected{{"s8888", 1}};
  for (int n = 88'880; n <= 88'889; ++n) expected["s" + std::to_string(n)] = 1;
  EXPECT_EQ(sink->take_all(), expected);
  EXPECT_EQ(sum(read("most")), kOfMost);
  // A further hook at each of these sites, and other settings of the first.
  create("t");
  set("t", "u::s8888*", process(program.pid()), "count by arg0");
  set("s", "u::s8888*", process(program.pid()), "count");
  EXPECT_EQ(calls_of(program, 1), 100'000u);
  must(engine->streams().flush("s"));
  EXPECT_TRUE(sink->take_all().empty());
  EXPECT_EQ(hit(read("s")), expected);
  EXPECT_EQ(sum(read("t")), expected.size());
}

TEST_F(ManySites, FollowCallsBeyondTheFirst) {
  Program program("sites", {});
  create("most");
  set("most", kMost, process(program.pid()), "count");
  std::map<std::string, uint64_t> expected{{"s9999", 2}};
  for (int n = 99'990; n <= 99'999; ++n) expected["s" + std::to_string(n)] = 2;
  for (const Returns by : {Returns::exits, Returns::automatic}) {
    create("s");
    Setting one = setting("u::s9999*", process(program.pid()), "time");
    one.returns = by;
    must(engine->drafts().set("s", {one}));
    must(engine->commits().commit("s", {}));
    calls_of(program, 1);
    calls_of(program, 1);
    EXPECT_EQ(hit(read("s")), expected);
    must(engine->delete_session("s"));
  }
}

class ManySitesOverRestarts : public RestartTest {};

TEST_F(ManySitesOverRestarts, CountOn) {
  Program program("sites", {});
  save("s");
  set("s", kAll, process(program.pid()), "count");
  calls_of(program, 50);
  restart();
  EXPECT_GT(engine->kernel().switching().slots().size(), uint32_t{TC_FIRST_SLOTS});
  calls_of(program, 70);
  std::map<std::string, uint64_t> expected = each_once(50);
  for (const auto& [function, calls] : each_once(70)) expected[function] += calls;
  EXPECT_EQ(hit(read("s")), expected);
  must(stage("s", "u::s99*", process(program.pid()), "count, event"));
  must(engine->commits().commit("s", {}));
  must(engine->delete_session("s"));
  EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
}

class ManySitesOfUsers : public WithUsersFile {
 protected:
  ManySitesOfUsers() : WithUsersFile("sites") {}
};

// Also where the counters that the keys belong to are beyond the first.
TEST_F(ManySitesOfUsers, HaveTheirShareOfKeys) {
  constexpr uint32_t kSites = 44'445, kUsers = 15;
  start({.quota = {.sites = kSites, .matches = kSites, .most_users = kUsers}});
  Program of_root("sites", {});
  for (const char* session : {"first", "second"}) {
    create(session);
    set(session, kMost, process(of_root.pid()), "count");
  }
  create_for(user(), "s");
  const std::string id = std::to_string(kUser);
  const auto program = run_by({"--reuid=" + id, "--regid=" + id, "--clear-groups"});
  set("s", probe("s[1-4]*"), process(program->pid()), "count by arg0");
  EXPECT_EQ(calls_of(*program, 1), 100'000u);
  const Results results = read("s");
  const uint32_t most = Shares::of(TC_MAX_KEYS, kUsers).most_of_user();
  EXPECT_EQ(results.totals.hits, kSites);
  EXPECT_EQ(results.totals.dropped_keys, kSites - most);
  EXPECT_EQ(hit(results).size(), most);
}

}  // namespace
}  // namespace tracectl::on_kernel
