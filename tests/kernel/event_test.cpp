// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <bit>

#include "daemon/protocol/events.h"
#include "daemon/stream/merger.h"
#include "tests/support/collected.h"
#include "tests/support/collector.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

using Delivery = KernelTest;
using Entries = KernelTest;
using Loss = KernelTest;
using GoneIsGone = KernelTest;

bool in_ts_order(const std::vector<StreamItem>& items) {
  return std::is_sorted(items.begin(), items.end(),
                        [](const auto& a, const auto& b) { return ts_of(a) < ts_of(b); });
}

// The arguments of a probe as printed by the program; it prints doubles as bits.
nlohmann::json said_args(const std::string& name, nlohmann::json args) {
  if (name == "floating") args[0] = std::bit_cast<double>(args[0].get<uint64_t>());
  return args;
}

// In C and in C++, in which the header determines the types of arguments in different ways.
class OfSdt : public Delivery, public ::testing::WithParamInterface<const char*> {};

TEST_P(OfSdt, EveryArgumentIsWhatTheProgramPrinted) {
  Program program(GetParam(), {"100"});
  create("s");
  auto sink = std::make_shared<Collector>();
  must(engine->streams().subscribe("s", sink));
  const auto commit = set("s", "usdt::all:*", process(program.pid()), "event");
  const auto said = parsed(program.run());
  must(engine->streams().flush("s"));
  EXPECT_TRUE(in_ts_order(sink->items()));
  std::map<std::string, std::vector<Event>> by_name;
  for (const Event& event : events_of(*sink)) {
    EXPECT_EQ(event.source->session, "s");
    EXPECT_EQ(event.epoch, commit.epoch);
    EXPECT_EQ(event.pid, program.pid());
    EXPECT_EQ(event.tid, program.pid());
    EXPECT_EQ(event.comm, GetParam());
    by_name[function_of(event.source->probe)].push_back(event);
  }
  protocol::WallClock wall;
  for (const auto& [name, probe] : said["probes"].items()) {
    const auto& events = by_name[name];
    ASSERT_EQ(events.size(), probe["hits"].get<uint64_t>()) << name;
    const auto shown = parsed(protocol::event_json(events.back(), wall))["args"];
    EXPECT_EQ(shown, said_args(name, probe["args"])) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Compiled, OfSdt, ::testing::Values("usdt_all", "usdt_all_cxx"));

// A probe fires once a call and sees the arguments of the call, wherever it is placed.
TEST_F(Entries, OfEveryKindFireOnceACallWithTheArgumentsOfTheCall) {
  constexpr uint64_t kCalls = 1000;
  Program program("entries", {std::to_string(kCalls)});
  create("s");
  auto sink = std::make_shared<Collector>();
  must(engine->streams().subscribe("s", sink));
  EXPECT_EQ(set("s", "uprobe::entry_*", process(program.pid()), "event").probes, 4u);
  const auto said = parsed(program.run());
  EXPECT_EQ(said["sum"], 4 * kCalls * (kCalls + 1) / 2);
  must(engine->streams().flush("s"));
  std::map<std::string, std::vector<std::pair<Value, Value>>> calls, expected;
  for (const Event& event : events_of(*sink))
    calls[function_of(event.source->probe)].emplace_back(event.args.at(0), event.args.at(1));
  for (const char* name : {"entry_endbr", "entry_loop", "entry_reads", "entry_writes"})
    for (uint64_t n = 0; n < kCalls; ++n) expected[name].emplace_back(n, n + 1);
  EXPECT_EQ(calls, expected);
}

TEST_F(Delivery, TwoSessionsAtTheSameSitesEachGetAllOfThem) {
  Program program("counters", {"2", "50", "100"});
  auto a = std::make_shared<Collector>(), b = std::make_shared<Collector>();
  create("a");
  create("b");
  must(engine->streams().subscribe("a", a));
  must(engine->streams().subscribe("b", b));
  set("a", "uprobe::f00*", process(program.pid()), "event");
  set("b", "uprobe::f00*", process(program.pid()), "event");
  const auto said = parsed(program.run());
  must(engine->streams().flush("a"));
  must(engine->streams().flush("b"));
  for (const auto& [name, sink] : {std::pair{"a", a}, std::pair{"b", b}}) {
    EXPECT_TRUE(in_ts_order(sink->items()));
    const auto events = events_of(*sink);
    EXPECT_EQ(events.size(), said["total"].get<uint64_t>());
    std::map<uint64_t, uint64_t> next;  // arg0 of each thread runs without a gap
    for (const Event& event : events) {
      EXPECT_EQ(event.source->session, name);
      ASSERT_EQ(*event.args[0], next[*event.args[1] & 0xffffffff]++);
    }
  }
}

// Each flush comes a fraction of a millisecond after its hit, before the reader's next look.
TEST_F(Delivery, OfAHitIsDoneWhenAFlushBehindItReturns) {
  Program program("hot", {});
  create("s");
  const auto events = std::make_shared<Collected>();
  must(engine->streams().subscribe("s", events));
  set("s", "uprobe::hot_nop5", process(program.pid()), "event");
  for (uint64_t n = 1; n <= 100; ++n) {
    program.send("hot_nop5 1");
    program.finish();
    must(engine->streams().flush("s"));
    ASSERT_EQ(events->events().size(), n);
  }
}

TEST_F(Loss, HitsAreTheEventsDeliveredAndTheLossesSaid) {
  start(EngineOptions{.ring_bytes = 4096});
  Program program("counters", {"2", "500", "100"});
  create("s");
  auto sink = std::make_shared<Collector>();
  must(engine->streams().subscribe("s", sink));
  set("s", "uprobe::f00*", process(program.pid()), "event");
  const auto said = parsed(program.run());
  must(engine->streams().flush("s"));
  const auto items = sink->items();
  uint64_t events = 0, lost = 0;
  for (const StreamItem& item : items)
    if (const auto* loss = std::get_if<Lost>(&item))
      lost += loss->count;
    else
      ++events;
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(events + lost, said["total"].get<uint64_t>());
  const auto totals = read("s").totals;
  EXPECT_EQ(totals.hits, said["total"].get<uint64_t>());
  EXPECT_EQ(totals.dropped_ring, lost);
  EXPECT_TRUE(in_ts_order(items));
}

TEST_F(GoneIsGone, SemaphoresAreBackWhenTheSessionIsDeleted) {
  for (const bool deleted_before_it_ends : {false, true}) {
    Program program("usdt_all", {"10"});
    create("s");
    set("s", "usdt::all:*", process(program.pid()), "count");
    EXPECT_FALSE(changed_code(program.pid(), program.path()).empty());
    if (deleted_before_it_ends) {
      must(engine->delete_session("s"));
      EXPECT_TRUE(changed_code(program.pid(), program.path()).empty());
    }
    const auto said = parsed(program.run());
    EXPECT_EQ(said["semaphore"].get<unsigned>() > 0, !deleted_before_it_ends);
    EXPECT_EQ(said["probes"]["guarded"]["hits"], deleted_before_it_ends ? 0 : 10);
    if (!deleted_before_it_ends) {
      must(engine->delete_session("s"));
      EXPECT_EQ(program.leave(), "0");  // the program's last reading of its semaphore
    }
  }
}

}  // namespace
}  // namespace tracectl::on_kernel
