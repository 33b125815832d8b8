// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/saved/engine_state.h"

#include <gtest/gtest.h>

#include <iterator>

#include "tests/support/must.h"

namespace tracectl {
namespace {

using on_kernel::must;

// One of everything.
EngineState some_state() {
  const Argument in_rdi{
      .place = Argument::Place::in_register, .base = Register::rdi, .text = "8@%rdi"};
  const Argument of_color{
      .place = Argument::Place::memory,
      .kind = Argument::Kind::enumeration,
      .size_bytes = 4,
      .is_signed = true,
      .link_relative = true,
      .base = Register::rip,
      .index = Register::r9,
      .scale = 8,
      .offset = -16,
      .name = "color",
      .declared_type = "enum color",
      .enumerators = std::make_shared<const Enumerators>(Enumerators{{"red", -1}, {"blue", 200}})};
  Argument of_pair{.place = Argument::Place::in_register,
                   .kind = Argument::Kind::aggregate,
                   .is_string = true,
                   .base = kResult,
                   .text = "in rax"};
  of_pair.members = std::make_shared<const Members>(
      Members{{.name = "a.b", .type = of_color, .first_bit = 64, .bit_count = 32}});
  Site site;
  site.offset = 0x100;
  site.moved_bytes = 4;
  site.semaphore = 0x200;
  site.args = std::make_shared<const Arguments>(Arguments{in_rdi, of_color});
  site.words_below_caller = 3;
  Site other = site;
  other.offset = 0x180;
  other.cost = CostClass::fast;
  other.words_below_caller = {};
  other.returns = std::make_shared<const ReturnPlan>(
      ReturnPlan{.way = Way::exits,
                 .reason = WayReason::may_be_unwound,
                 .pushed_bytes = 8,
                 .moved_bytes = 4,
                 .exits = {{.offset = 0x190, .has_result = true},
                           {.offset = 0x198, .condition = uint8_t{5}, .jump_bytes = 2}},
                 .result = of_pair});
  const std::vector<Probe> probes{
      {.name = "uprobe:/f:g", .demangled = "g()", .sites = {site, other}},
      {.name = "uprobe:/f:h", .demangled = {}, .sites = {other}}};
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
  part.sides = 1, part.follow = Follow::children, part.unmapped = true;
  part.probes = std::make_shared<const std::vector<Probe>>(probes);
  const WantState want{.part = 0, .probe = 0, .site = 1, .sides = 2, .saved = {11, 12, 13, 14, 15}};
  const Pattern grown = must(parse_pattern("u:/f:g", Scope::global));
  state.sessions = {{.name = "s",
                     .id = 2,
                     .epoch = 6,
                     .paused = true,
                     .marks = false,
                     .has_rings = true,
                     .tags = {"a", "b"},
                     .settings = {{"said", {"/a.slice"}, {grown}}},
                     .left_out = {{{"uprobe:/f:h", CostClass::slow, 1e6, 1600.5}, 2.5, 1}},
                     .parts = {part},
                     .wants = {{5, {want}}}}};
  Results& past = state.sessions[0].past;
  past.totals = {
      .hits = 300, .filtered = 2, .dropped_ring = 3, .dropped_keys = 4, .cut = 5, .silenced = 6};
  const StackAddresses stack{.pid = 71,
                             .image = 72,
                             .begins_with_caller = true,
                             .end = StackEnd::unreadable,
                             .addresses = {0x401000, 0x402000}};
  past.rows[{"uprobe:/f:g",
             "lhist(arg0)",
             {{"none", {}},
              {"arg0", int64_t{-5}},
              {"arg1", uint64_t{1} << 63},
              {"str(arg0)", std::string("text")},
              {"stack", stack}}}] = {.shape = {.kind = RowShape::Kind::lhist,
                                               .of = "arg0",
                                               .is_unsigned = true,
                                               .of_calls = false,
                                               .max = true,
                                               .low = -10,
                                               .high = 1000,
                                               .step = 10},
                                     .count = 1,
                                     .unread = 2,
                                     .unwound = 3,
                                     .self = 4,
                                     .sum = 5,
                                     .min = 6,
                                     .max = 7,
                                     .buckets = {{0, 1}, {3, 500}}};
  past.rows[{"uprobe:/f:h", "count", {}}] = {.count = 9};
  past.latencies[{"u:/f:g", "u:/f:h", "tid"}] = {.started = 1,
                                                 .overwritten = 2,
                                                 .matched = 3,
                                                 .unmatched = 4,
                                                 .unread = 5,
                                                 .dropped = 6,
                                                 .unlisted = 7,
                                                 .carried = 8,
                                                 .wanted = 2,
                                                 .slowest = {{.duration_ns = 9,
                                                              .ended_ns = 10,
                                                              .by = {{"tid", int64_t{71}}},
                                                              .from_pid = 1,
                                                              .from_tid = 2,
                                                              .to_pid = 3,
                                                              .to_tid = 4}}};
  past.paths = {{1, {"uprobe:/f:g", 0}}, {2, {"uprobe:/f:h", 1}}};
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
  const SavedHook& saved = session.wants.at(0).wants.at(0).saved;
  EXPECT_EQ(saved.stat, 11u);
  EXPECT_EQ(saved.set_target, 15u);
  EXPECT_EQ(encode(state), encode(some_state()));
}

TEST(EngineState, GrownPatternsNeedNotBeOnesThatCanBeWritten) {
  EngineState state = some_state();
  Pattern& grown = state.sessions[0].settings[0].grown.at(0);
  grown.object = "/a:b/f";
  grown.function = "operator[";
  const Pattern read = must(decode_engine_state(encode(state))).sessions[0].settings[0].grown.at(0);
  EXPECT_EQ(read, grown);
}

TEST(EngineState, ItsPastComesBack) {
  const EngineState state = must(decode_engine_state(encode(some_state())));
  const Results &past = state.sessions[0].past, written = some_state().sessions[0].past;
  EXPECT_EQ(past.totals.silenced, 6u);
  ASSERT_EQ(past.rows.size(), 2u);
  for (const auto& [key, row] : written.rows) {
    const auto found = past.rows.find(key);
    ASSERT_NE(found, past.rows.end());
    EXPECT_EQ(found->second.shape, row.shape);
    EXPECT_EQ(found->second.count, row.count);
    EXPECT_EQ(found->second.buckets, row.buckets);
  }
  ASSERT_EQ(past.latencies.size(), 1u);
  EXPECT_EQ(past.latencies.begin()->second.slowest.at(0).to_tid, 4);
  EXPECT_EQ(past.paths, written.paths);
}

TEST(EngineState, StateOfAnotherVersionIsRefused) {
  std::string other = encode(some_state());
  for (const int difference : {-1, 1}) {
    std::string changed = other;
    changed[0] = static_cast<char>(changed[0] + difference);
    EXPECT_FALSE(decode_engine_state(changed));
  }
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
  EXPECT_TRUE(want_refused([](WantState& want) { want.probe = 2; }));
  EXPECT_TRUE(want_refused([](WantState& want) { want.site = 2; }));
  EXPECT_TRUE(want_refused([](WantState& want) { want.saved.stat = TC_MAX_STATS; }));
  EXPECT_TRUE(
      want_refused([](WantState& want) { want.saved.set_target = TC_MAX_SET_TARGETS + 1; }));
}

}  // namespace
}  // namespace tracectl
