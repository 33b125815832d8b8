// SPDX-License-Identifier: BSD-2-Clause
//
// Values that may be in no integer register: results by the types of their functions, and arguments of USDT probes by
// their sizes, compared with what tests/targets/returned*.c* and usdt_sizes*.c report of them.
#include "daemon/object/demangle.h"
#include "daemon/protocol/events.h"
#include "tests/support/collector.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

using nlohmann::json;

// shop::Cart::name(int) const is "name"
std::string short_name(const std::string& symbol) {
  std::string plain = demangle(symbol).value_or(symbol);
  plain = plain.substr(0, plain.find_first_of("([<"));
  const size_t colons = plain.rfind("::");
  return colons == std::string::npos ? plain : plain.substr(colons + 2);
}

class ShownResults : public KernelTest {
 protected:
  // The `retval` and `retval_is` of each function's last return.
  std::map<std::string, json> of_returns(const std::string& functions, Returns returns) {
    create("s");
    const auto sink = std::make_shared<Collector>();
    must(engine->streams().subscribe("s", sink));
    Setting wanted = setting("u::" + functions, process(program_->pid()), "return");
    wanted.returns = returns;
    must(engine->drafts().set("s", {std::move(wanted)}));
    must(engine->commits().commit("s", {}));
    said_ = parsed(program_->run());
    must(engine->streams().flush("s"));
    std::map<std::string, json> results;
    protocol::WallClock wall;
    for (const Event& event : events_of(*sink)) {
      if (event.kind != EventKind::returned) continue;
      json& shown = results[short_name(function_of(event.source->probe))] = json::object();
      const json all = parsed(protocol::event_json(event, wall));
      for (const char* member : {"retval", "retval_is"})
        if (all.contains(member)) shown[member] = all[member];
    }
    return results;
  }

  void start(const std::string& target, std::vector<std::string> arguments = {}) {
    program_.emplace(target, std::move(arguments));
  }

  std::optional<Program> program_;
  json said_;
};

class ResultsOf : public ShownResults, public ::testing::WithParamInterface<const char*> {};

TEST_P(ResultsOf, AreShownIfTheirRegisterIsKnownAndElseTheReason) {
  start(GetParam());
  const bool is_cxx = std::string(GetParam()).find("cxx") != std::string::npos;
  const auto results = of_returns(is_cxx ? "*shop::*" : "of_*", Returns::exits);
  EXPECT_GE(said_.size(), 16u);
  for (const auto& [name, members] : said_.items()) {
    ASSERT_TRUE(results.contains(name)) << name;
    EXPECT_EQ(results.at(name), members) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Compiled, ResultsOf,
                         ::testing::Values("returned", "returned_o0", "returned_clang",
                                           "returned_cxx", "returned_cxx_clang"),
                         [](const auto& one) { return std::string(one.param); });

TEST_F(ShownResults, OfFunctionsWithoutDebugInformationAreTheRegister) {
  start("returned_plain", {"plain"});
  const auto results = of_returns("of_*", Returns::automatic);
  EXPECT_EQ(said_.size(), 2u);
  for (const auto& [name, members] : said_.items()) EXPECT_EQ(results.at(name), members) << name;
}

TEST_F(ShownResults, ThatAreInNoIntegerRegisterAreRefusedInExpressions) {
  start("returned");
  create("s");
  const auto refused = [&](const char* function, const char* action) {
    const auto staged = stage("s", std::string("u::") + function, process(program_->pid()), action);
    return staged ? "" : staged.error().message;
  };
  constexpr const char* kActions[] = {"count by retval", "sum(retval)", "event(retval + 1)",
                                      "hist(retval)"};
  for (const char* action : kActions) {
    EXPECT_NE(refused("of_nothing", action).find("the function returns nothing"), std::string::npos)
        << action;
    EXPECT_NE(refused("of_double", action).find("the function returns double in xmm0"),
              std::string::npos)
        << action;
    EXPECT_NE(refused("of_pair", action).find("struct pair in rax and rdx"), std::string::npos);
    EXPECT_EQ(refused("of_s32", action), "") << action;
    EXPECT_EQ(refused("of_large", action), "") << action;
  }
}

class SizesOf : public ShownResults, public ::testing::WithParamInterface<const char*> {};

TEST_P(SizesOf, ArgumentsAreShownIfTheyAreNumbersAndNeverTheirFirstHalf) {
  start(GetParam());
  create("s");
  const auto sink = std::make_shared<Collector>();
  must(engine->streams().subscribe("s", sink));
  set("s", "usdt::sizes:*", process(program_->pid()), "event");
  const auto said = parsed(program_->run());
  must(engine->streams().flush("s"));
  protocol::WallClock wall;
  std::map<std::string, json> shown;
  std::map<std::string, std::string> types;
  for (const Event& event : events_of(*sink)) {
    const std::string name = function_of(event.source->probe);
    shown[name] = parsed(protocol::event_json(event, wall))["args"];
    types[name] = type_name(event.source->arguments.at(0));
  }
  EXPECT_EQ(said.size(), 5u);
  for (const auto& [name, arguments] : said.items()) EXPECT_EQ(shown[name], arguments) << name;
  EXPECT_EQ(types["pair"], "16 bytes");
  EXPECT_EQ(types["large"], "32 bytes");
  EXPECT_EQ(types["three"], "3 bytes");
  EXPECT_EQ(types["wide"], "16-byte integer");
}

INSTANTIATE_TEST_SUITE_P(Compiled, SizesOf, ::testing::Values("usdt_sizes", "usdt_sizes_clang"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace tracectl::on_kernel
