// SPDX-License-Identifier: BSD-2-Clause
//
// The time from one probe to another, compared with the program's own records of its requests
// (tests/targets/requests.cpp).
#include <fstream>
#include <set>

#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

constexpr const char* kBegin = "usdt::requests:begin";
constexpr const char* kEnd = "usdt::requests:end";

struct Asked {
  std::string from = kBegin, to = kEnd, by = "arg0", action = "time", when = {};
  uint32_t slowest = 5;
};

// The time that the host of a virtual machine has stolen from its CPUs, in ms, rounded up to the
// next 10 (proc(5)).
uint64_t stolen_ms() {
  std::ifstream stat("/proc/stat");
  std::string cpu;
  uint64_t user, nice, system, idle, iowait, irq, softirq, steal = 0;
  stat >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  return (steal + 1) * 1000 / static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
}

class LatencyTest : public KernelTest {
 protected:
  Setting measuring(const Asked& asked) {
    Setting set = setting(asked.to, process(program_.pid()), asked.action);
    if (!asked.when.empty()) set.spec.when = must(parse_condition(asked.when));
    set.latency = Latency{.from = must(parse_pattern(asked.from)),
                          .by = must(parse_keys(asked.by)),
                          .slowest = asked.slowest};
    return set;
  }
  Result<StageSummary> stage_in(const std::string& session, const Asked& asked) {
    return engine->drafts().set(session, {measuring(asked)});
  }
  void begin(const std::string& session, const Asked& asked) {
    create(session);
    must(stage_in(session, asked));
    must(engine->commits().commit(session, {}));
  }
  nlohmann::json run() { return parsed(program_.run()); }

  static const LatencyResult& only(const Results& results) {
    if (results.latencies.size() != 1) throw std::runtime_error("one latency is expected");
    return results.latencies.begin()->second;
  }
  static const Row& only_row(const Results& results) {
    if (results.rows.size() != 1) throw std::runtime_error("one row is expected");
    return results.rows.begin()->second;
  }

  void expect_counts(const LatencyResult& latency, const nlohmann::json& said) const;

  uint64_t stolen_before_ms_ = stolen_ms();
  Program program_{"requests", {"3", "1500"}};
};

using Latencies = LatencyTest;

// Equal, except for hits that were reported as dropped: if the host of a virtual machine takes away
// a CPU during a hit that holds a lock, another hit waits for it no longer than about a
// millisecond.
void expect_but_for_dropped(uint64_t counted, uint64_t passed, const LatencyResult& latency) {
  EXPECT_LE(counted > passed ? counted - passed : passed - counted, latency.dropped)
      << counted << " of " << passed;
}

void LatencyTest::expect_counts(const LatencyResult& latency, const nlohmann::json& said) const {
  expect_but_for_dropped(latency.started, said["begun"], latency);
  expect_but_for_dropped(latency.matched, said["matched"], latency);
  expect_but_for_dropped(latency.overwritten, said["overwritten"], latency);
  expect_but_for_dropped(latency.open(), said["open"], latency);
  expect_but_for_dropped(latency.unmatched, said["unmatched"], latency);
  // Every hit of both probes is one of these, whatever was dropped.
  EXPECT_EQ(latency.started + latency.matched + latency.unmatched + latency.dropped,
            said["begun"].get<uint64_t>() + said["matched"].get<uint64_t>() +
                said["unmatched"].get<uint64_t>());
  EXPECT_EQ(latency.unread + latency.unlisted, 0u);
  EXPECT_LE(latency.dropped, stolen_ms() - stolen_before_ms_ + 10);
  EXPECT_LE(latency.dropped, latency.started / 100);
}

TEST_F(Latencies, StartsAndEndsAreTheProgramsOwnAcrossThreads) {
  begin("usdt", {});
  begin("functions", {.from = "uprobe::request_begins", .to = "uprobe::request_ends"});
  begin("texts", {.by = "str(arg1), pid"});
  const auto said = run();
  for (const char* session : {"usdt", "functions", "texts"}) {
    SCOPED_TRACE(session);
    expect_counts(only(read(session)), said);
  }
}

TEST_F(Latencies, WhatRequestsTookLiesWithinTheProgramsBounds) {
  begin("s", {.action = "time, count, sum(duration)"});
  const auto said = run();
  std::map<std::string, Row> rows;
  for (const auto& [key, row] : read("s").rows) rows[key.aggregate] = row;
  ASSERT_EQ(rows.size(), 3u);
  const Row& time = rows.at("time");
  expect_but_for_dropped(time.count, said["matched"], only(read("s")));
  EXPECT_EQ(rows.at("count").count, time.count);
  EXPECT_EQ(rows.at("duration unsigned").sum, time.sum);
  EXPECT_GE(time.sum, said["inner"].get<uint64_t>());
  EXPECT_LE(time.sum, said["outer"].get<uint64_t>());
  uint64_t least_inner = UINT64_MAX, least_outer = UINT64_MAX, most_inner = 0, most_outer = 0;
  for (const auto& one : said["longest"]) {
    least_inner = std::min(least_inner, one[1].get<uint64_t>());
    least_outer = std::min(least_outer, one[2].get<uint64_t>());
    most_inner = std::max(most_inner, one[1].get<uint64_t>());
    most_outer = std::max(most_outer, one[2].get<uint64_t>());
  }
  EXPECT_GE(time.min, least_inner);
  EXPECT_LE(time.min, least_outer);
  EXPECT_GE(time.max, most_inner);
  EXPECT_LE(time.max, most_outer);
  uint64_t in_buckets = 0;
  for (const auto& [number, count] : time.buckets) in_buckets += count;
  EXPECT_EQ(in_buckets, time.count);
}

TEST_F(Latencies, TheSlowestAreThoseThatTookLongest) {
  begin("s", {.slowest = 12});
  const auto said = run();
  const auto slowest = only(read("s")).slowest;
  ASSERT_EQ(slowest.size(), 12u);
  std::map<int64_t, nlohmann::json> truth;
  for (const auto& one : said["longest"]) truth[one[0].get<int64_t>()] = one;
  std::set<int64_t> listed;
  uint64_t before = UINT64_MAX;
  for (const SlowPair& slow : slowest) {
    const int64_t number = std::get<int64_t>(slow.by.at(0).value);
    ASSERT_TRUE(truth.contains(number)) << number;
    EXPECT_GE(slow.duration_ns, truth[number][1].get<uint64_t>());
    EXPECT_LE(slow.duration_ns, truth[number][2].get<uint64_t>());
    EXPECT_EQ(slow.from_tid, truth[number][3].get<pid_t>());
    EXPECT_EQ(slow.to_tid, truth[number][4].get<pid_t>());
    EXPECT_EQ(slow.from_pid, program_.pid());
    EXPECT_LE(slow.duration_ns, before);
    before = slow.duration_ns;
    EXPECT_TRUE(listed.insert(number).second) << number;
  }
  for (const auto& [number, one] : truth) {
    if (listed.contains(number)) continue;
    EXPECT_LE(one[1].get<uint64_t>(), before) << number;
  }
}

TEST_F(Latencies, AConditionOnTheDurationPicksAmongWhatMatched) {
  begin("all", {});
  begin("slow", {.action = "count", .when = "duration >= 5000000"});
  begin("end", {.action = "count", .when = "arg0 % 2 == 0"});
  const auto said = run();
  uint64_t surely = 0, perhaps = 0, even = 0;
  for (const auto& one : said["longest"]) {
    surely += one[1] >= 5000000;
    perhaps += one[2] >= 5000000;
    even += one[0].get<int64_t>() % 2 == 0;
  }
  ASSERT_GT(surely, 0u);
  const Results slow = read("slow");
  EXPECT_GE(sum(slow), surely);
  EXPECT_LE(sum(slow), perhaps);
  expect_counts(only(slow), said);  // regardless of the condition
  expect_but_for_dropped(slow.totals.filtered + sum(slow), said["matched"], only(slow));
  const Results end = read("end");
  expect_but_for_dropped(sum(end), even, only(end));
}

// Between hits of one probe in a thread, each hit but the first ends the time that the previous one
// began.
TEST_F(Latencies, OfOneProbeItIsTheTimeBetweenItsHits) {
  begin("s", {.to = kBegin, .by = "tid"});
  begin("hits", {.from = kEnd, .to = "uprobe::request_begins", .by = "tid"});
  const auto said = run();
  const LatencyResult latency = only(read("s"));
  const uint64_t begun = said["begun"];
  expect_but_for_dropped(latency.started, begun, latency);
  expect_but_for_dropped(latency.matched, begun - 3, latency);
  expect_but_for_dropped(latency.unmatched, 3, latency);
  EXPECT_EQ(latency.open(), 3u);
  EXPECT_EQ(latency.overwritten, 0u);
  const LatencyResult hits = only(read("hits"));
  expect_but_for_dropped(hits.unmatched, begun, hits);  // other threads
}

TEST_F(Latencies, ReadingAndZeroingCutsOnceAndLosesNothing) {
  begin("s", {});
  program_.send("go");
  LatencyResult all{.wanted = 5};
  uint64_t rows = 0;
  const auto take = [&] {
    const Results results = read("s", true);
    LatencyResult part = only(results);
    part.carried = 0;
    all.add(part);
    rows += sum(results);
  };
  for (int i = 0; i < 20; ++i) take();
  const auto said = parsed(program_.finish());
  take();
  expect_counts(all, said);
  expect_but_for_dropped(rows, said["matched"], all);
  const LatencyResult rest = only(read("s"));
  EXPECT_EQ(rest.open(), said["open"].get<uint64_t>());  // they are still open
  EXPECT_EQ(rest.started + rest.matched, 0u);
}

TEST_F(Latencies, WhatIsDoneWithThemIsReplacedWithoutASeam) {
  begin("s", {});
  program_.send("go");
  for (int i = 0; i < 20; ++i) {
    must(stage_in("s", {.action = i % 2 ? "time" : "hist(duration), count"}));
    must(engine->commits().commit("s", {}));
  }
  const auto said = parsed(program_.finish());
  expect_counts(only(read("s")), said);
}

TEST_F(Latencies, AnEventTellsTheTimeAndTheArgumentsOfTheEnd) {
  struct Sink : EventSink {
    void take(std::span<const StreamItem> items) override {
      for (const StreamItem& item : items)
        if (const auto* event = std::get_if<Event>(&item)) events.push_back(*event);
    }
    std::vector<Event> events;
  };
  const auto sink = std::make_shared<Sink>();
  create("s");
  must(engine->streams().subscribe("s", sink));
  must(stage_in("s", {.action = "event"}));
  must(engine->commits().commit("s", {}));
  const auto said = run();
  must(engine->streams().flush("s"));
  std::map<int64_t, nlohmann::json> truth;
  for (const auto& one : said["longest"]) truth[one[0].get<int64_t>()] = one;
  expect_but_for_dropped(sink->events.size(), truth.size(), only(read("s")));
  for (const Event& event : sink->events) {
    const auto number = static_cast<int64_t>(event.args.at(0).value());
    ASSERT_TRUE(truth.contains(number)) << number;
    EXPECT_EQ(event.kind, EventKind::latency);
    EXPECT_GE(event.duration_ns.value(), truth[number][1].get<uint64_t>());
    EXPECT_LE(event.duration_ns.value(), truth[number][2].get<uint64_t>());
    EXPECT_EQ(event.tid, truth[number][4].get<pid_t>());
  }
}

// Two programs with the same keys: pairs that never end in one begin again in the other.
TEST_F(Latencies, ResumingForgetsWhatMayHaveEndedUnseen) {
  Program other("requests", {"3", "1500"});
  const auto begin_in_both = [&](const std::string& session) {
    Setting both = measuring({});
    both.target.pids.push_back(other.pid());
    create(session);
    must(engine->drafts().set(session, {both}));
    must(engine->commits().commit(session, {}));
  };
  begin_in_both("resumed");
  begin_in_both("kept");
  const auto said = run();
  must(engine->gates().pause("resumed"));
  must(engine->gates().resume("resumed"));
  EXPECT_EQ(parsed(other.run())["open"], said["open"]);
  const uint64_t open = said["open"], overwritten = said["overwritten"];
  const LatencyResult kept = only(read("kept")), resumed = only(read("resumed"));
  expect_but_for_dropped(kept.overwritten, 2 * overwritten + open, kept);
  expect_but_for_dropped(kept.open(), open, kept);
  expect_but_for_dropped(resumed.overwritten, 2 * overwritten, resumed);
  expect_but_for_dropped(resumed.open(), 2 * open, resumed);
}

TEST_F(Latencies, WhoseKeyCannotBeReadIsCounted) {
  begin("s", {.from = "uprobe::request_begins",
              .to = "uprobe::request_ends",
              .by = "u64(arg0)"});  // not a valid address
  const auto said = run();
  const LatencyResult latency = only(read("s"));
  EXPECT_EQ(latency.unread, said["begun"].get<uint64_t>() + said["ended"].get<uint64_t>());
  EXPECT_EQ(latency.started + latency.matched + latency.unmatched, 0u);
}

TEST_F(Latencies, APairIsNotLeftWithOneSide) {
  begin("s", {});
  const auto other = stage("s", kBegin, process(program_.pid()), "count");
  must(other);  // each is valid on its own
  const auto committed = engine->commits().commit("s", {});
  ASSERT_FALSE(committed);
  EXPECT_NE(committed.error().message.find("one end of the latency"), std::string::npos);
  EXPECT_FALSE(stage_in("s", {.from = "usdt::requests:nothing"}));
  EXPECT_FALSE(stage_in("s", {.to = "usdt::requests:nothing"}));
  EXPECT_FALSE(stage_in("s", {.action = "return"}));
  EXPECT_FALSE(stage_in("s", {.action = "hist(retval)"}));
  EXPECT_FALSE(stage_in("s", {.by = "arg7"}));
}

}  // namespace
}  // namespace tracectl::on_kernel
