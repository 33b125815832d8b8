// SPDX-License-Identifier: BSD-2-Clause
//
// Named parameters, compared with the values that the program reports to have passed.
#include <mutex>

#include "daemon/object/demangle.h"
#include "daemon/protocol/events.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

class LastEvents : public EventSink {
 public:
  void take(std::span<const StreamItem> items) override {
    const std::lock_guard lock(mutex_);
    for (const StreamItem& item : items)
      if (const auto* event = std::get_if<Event>(&item)) by_function_[name_of(*event)] = *event;
  }
  std::map<std::string, Event> by_function() const {
    const std::lock_guard lock(mutex_);
    return by_function_;
  }

 private:
  // shop::Cart::add(...) is "add"
  static std::string name_of(const Event& event) {
    const std::string symbol = function_of(event.source->probe);
    std::string plain = demangle(symbol).value_or(symbol);
    plain = plain.substr(0, plain.find_first_of("(<["));
    const size_t colons = plain.rfind("::");
    return colons == std::string::npos ? plain : plain.substr(colons + 2);
  }

  mutable std::mutex mutex_;
  std::map<std::string, Event> by_function_;
};

class NamedParameters : public KernelTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(NamedParameters, HaveTheValuesThatWerePassed) {
  Program program(GetParam(), {});
  create("s");
  const auto sink = std::make_shared<LastEvents>();
  must(engine->streams().subscribe("s", sink));
  set("s", "u::*", process(program.pid()), "event");
  const auto said = parsed(program.run());
  must(engine->streams().flush("s"));
  const auto events = sink->by_function();
  protocol::WallClock wall;
  for (const auto& [name, values] : said.items()) {
    ASSERT_TRUE(events.contains(name)) << name;
    const Event& event = events.at(name);
    EXPECT_EQ(parsed(protocol::event_json(event, wall))["args"], values) << name;
    for (const Argument& argument : event.source->arguments)
      EXPECT_FALSE(argument.declared_type.empty()) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Compiled, NamedParameters,
                         ::testing::Values("parameters", "parameters_dwarf4", "parameters_o0",
                                           "parameters_clang", "parameters_dwarf4_clang",
                                           "parameters_cxx", "parameters_cxx_clang"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace tracectl::on_kernel
