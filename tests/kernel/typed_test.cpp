// SPDX-License-Identifier: BSD-2-Clause
//
// Probes of <tracectl/usdt.h>, compared with the reports of their programs.
#include "daemon/protocol/events.h"
#include "tests/support/collected.h"
#include "tests/support/collector.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

class Typed : public KernelTest, public ::testing::WithParamInterface<const char*> {
 protected:
  // With kernels that replace a 5-byte nop by a call.
  void start_with_calls() {
    engine.reset();
    engine = must(Engine::start(must(Kernel::open({.fast_nops = true})), EngineOptions{}));
  }

  void fire();
};

// Events have the text of arguments that are declared as text, and arguments are computed for hits
// only.
void Typed::fire() {
  Program program(GetParam(), {"100"});
  create("s");
  auto sink = std::make_shared<Collector>();
  must(engine->streams().subscribe("s", sink));
  set("s", "usdt::typed:*", process(program.pid()), "event");
  const auto said = parsed(program.run());
  must(engine->streams().flush("s"));
  EXPECT_EQ(said["wrong"], 0);
  std::map<std::string, std::vector<Event>> by_name;
  for (const Event& event : events_of(*sink))
    by_name[function_of(event.source->probe)].push_back(event);
  protocol::WallClock wall;
  for (const auto& [name, probe] : said["probes"].items()) {
    const auto& events = by_name[name];
    ASSERT_EQ(events.size(), probe["hits"].get<uint64_t>()) << name;
    if (events.empty()) continue;
    EXPECT_EQ(parsed(protocol::event_json(events.back(), wall))["args"], probe["args"]) << name;
  }
  EXPECT_EQ(by_name["two_places"].size(), 200u);
}

TEST_P(Typed, ProbesFireWithWhatTheProgramPassed) { fire(); }
TEST_P(Typed, ProbesFireSoAsCallsOfTheKernelToo) {
  start_with_calls();
  fire();
}

TEST_P(Typed, ProbesHaveOneFastSiteAndTheNamesOfTheirArguments) {
  start_with_calls();
  Program program(GetParam(), {"1"});
  const auto found =
      must(engine->list({must(parse_pattern("usdt::typed:*"))}, process(program.pid()), {}));
  EXPECT_TRUE(found.refused.empty());
  std::map<std::string, const Probe*> probes;
  for (const Resolved& part : found.parts)
    for (const Probe& probe : *part.probes) probes[function_of(probe.name)] = &probe;
  EXPECT_GE(probes.size(), 8u);
  for (const auto& [name, probe] : probes) {
    ASSERT_EQ(probe->sites.size(), 1u) << name;
    EXPECT_EQ(probe->sites[0].cost, name == "inlined" ? CostClass::normal : CostClass::fast)
        << name;
    EXPECT_EQ(probe->sites[0].semaphore == 0, name == "inlined") << name;
  }
  const Arguments& query = *probes.at("query__start")->sites[0].args;
  ASSERT_EQ(query.size(), 2u);
  EXPECT_EQ(query[0].name, "query");
  EXPECT_EQ(query[0].declared_type, "const char*");
  EXPECT_EQ(query[1].name, "rows");
  EXPECT_EQ(query[1].declared_type, "int");
}

TEST_P(Typed, NothingIsComputedAndNothingIsLeftWhenNobodyTraces) {
  Program program(GetParam(), {"1000"});
  create("s");
  set("s", "usdt::typed:*", process(program.pid()), "count");
  must(engine->delete_session("s"));
  const auto said = parsed(program.run());
  for (const auto& [name, probe] : said["probes"].items())
    EXPECT_EQ(probe["hits"], name == "inlined" ? 1000 : 0) << name;
}

INSTANTIATE_TEST_SUITE_P(Compiled, Typed,
                         ::testing::Values("typed", "typed_clang", "typed_cxx", "typed_cxx_clang"),
                         [](const auto& of) { return std::string{of.param}; });

}  // namespace
}  // namespace tracectl::on_kernel
