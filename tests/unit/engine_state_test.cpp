// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/saved/engine_state.h"

#include <gtest/gtest.h>

#include "tests/support/must.h"

namespace tracectl {
namespace {

using on_kernel::must;

// One of everything.
EngineState some_state() {
  Argument in_rdi{.place = Argument::Place::in_register, .base = Register::rdi, .text = "8@%rdi"};
  Site site;
  site.offset = 0x100;
  site.args = std::make_shared<const Arguments>(Arguments{in_rdi});
  const std::vector<Probe> probes{{.name = "uprobe:/f:g", .demangled = {}, .sites = {site}}};
  EngineState state;
  state.epoch = 7;
  state.ring_bytes = 4096;
  state.last_source = 1, state.last_serial = 2, state.last_pair = 3, state.last_incarnation = 4;
  state.layouts = {{"1 8 5 0,", 1}};
  state.objects = {{.number = 9,
                    .path = "/f",
                    .facts = {"abcd", true},
                    .identity = {1, 2, 0x1000, {-3, 4}, {5, 6}}}};
  state.slots = {{5, {1, 2, 3, 4, 0x100, 0}, 0, true}};
  PartState part;
  part.what = Beside::below, part.pid = 3, part.birth = 4, part.cgroup = "/a.slice";
  part.probes = std::make_shared<const std::vector<Probe>>(probes);
  const WantState want{
      .part = 0, .probe = 0, .site = 0, .sides = 0, .former = {11, 12, 13, 14, 15}};
  state.sessions = {{.name = "s",
                     .id = 2,
                     .epoch = 6,
                     .paused = true,
                     .marks = false,
                     .has_rings = true,
                     .tags = {"a", "b"},
                     .settings = {{"said", {"/a.slice"}, {must(parse_pattern("u:/f:g"))}}},
                     .left_out = {{{"uprobe:/f:h", CostClass::slow, 1e6, 1600.5}, 2.5, 1}},
                     .parts = {part},
                     .wants = {{5, {want}}}}};
  return state;
}

TEST(EngineState, ComesBackAsItWas) {
  const EngineState state = must(decode_engine_state(encode(some_state())));
  EXPECT_EQ(state.epoch, 7u);
  EXPECT_EQ(state.ring_bytes, 4096u);
  EXPECT_EQ(state.last_incarnation, 4u);
  EXPECT_EQ(state.layouts, some_state().layouts);
  ASSERT_EQ(state.objects.size(), 1u);
  EXPECT_EQ(state.objects[0].number, 9u);
  EXPECT_EQ(state.objects[0].facts, some_state().objects[0].facts);
  EXPECT_EQ(state.objects[0].identity, some_state().objects[0].identity);
  ASSERT_EQ(state.slots.size(), 1u);
  EXPECT_EQ(state.slots[0].key, some_state().slots[0].key);
  EXPECT_TRUE(state.slots[0].nop5);
  ASSERT_EQ(state.sessions.size(), 1u);
  const SessionState& session = state.sessions[0];
  EXPECT_EQ(session.name, "s");
  EXPECT_TRUE(session.paused && session.has_rings && !session.marks);
  EXPECT_EQ(session.tags, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(session.parts.at(0).probes->at(0).name, "uprobe:/f:g");
  EXPECT_EQ(session.parts.at(0).cgroup, "/a.slice");
  EXPECT_EQ(session.left_out.at(0).load.percent, 1600.5);
  EXPECT_EQ(session.parts.at(0).what, Beside::below);
  EXPECT_EQ(session.settings.at(0).grown, some_state().sessions[0].settings[0].grown);
  const FormerHook& former = session.wants.at(0).wants.at(0).former;
  EXPECT_EQ(former.stat, 11u);
  EXPECT_EQ(former.set_target, 15u);
  EXPECT_EQ(encode(state), encode(some_state()));
}

TEST(EngineState, NoPartOfItIsOne) {
  const std::string whole = encode(some_state());
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(decode_engine_state(whole.substr(0, size))) << size;
  EXPECT_FALSE(decode_engine_state(whole + '\0'));
}

TEST(EngineState, WhatRefersToNothingIsRefused) {
  const auto refused = [](auto change) {
    EngineState state = some_state();
    change(state);
    return !decode_engine_state(encode(state));
  };
  EXPECT_FALSE(refused([](EngineState&) {}));
  EXPECT_TRUE(refused([](EngineState& state) { state.slots[0].object = 1; }));
  EXPECT_TRUE(refused([](EngineState& state) { state.slots[0].id = TC_MAX_SLOTS; }));
  EXPECT_TRUE(refused([](EngineState& state) { state.layouts["x"] = 1; }));
  EXPECT_TRUE(refused([](EngineState& state) { state.layouts["x"] = 0; }));
  EXPECT_TRUE(refused([](EngineState& state) { state.layouts["x"] = TC_MAX_LAYOUTS; }));
  EXPECT_FALSE(refused([](EngineState& state) { state.layouts["x"] = 3; }));
  EXPECT_TRUE(refused([](EngineState& state) { state.sessions[0].id = TC_MAX_SESSIONS; }));
  EXPECT_TRUE(refused([](EngineState& state) { state.sessions[0].parts[0].object = 1; }));
  EXPECT_TRUE(refused([](EngineState& state) { state.sessions[0].parts[0].of = 1; }));
  const auto want_refused = [&](auto change) {
    return refused([&](EngineState& state) { change(state.sessions[0].wants[0].wants[0]); });
  };
  EXPECT_TRUE(want_refused([](WantState& want) { want.part = 1; }));
  EXPECT_TRUE(want_refused([](WantState& want) { want.probe = 1; }));
  EXPECT_TRUE(want_refused([](WantState& want) { want.site = 1; }));
  EXPECT_TRUE(want_refused([](WantState& want) { want.former.stat = TC_MAX_STATS; }));
  EXPECT_TRUE(
      want_refused([](WantState& want) { want.former.set_target = TC_MAX_SET_TARGETS + 1; }));
}

}  // namespace
}  // namespace tracectl
