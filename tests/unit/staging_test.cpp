// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/switching/staging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/object/own_reading.h"
#include "tests/support/elf_builder.h"
#include "tests/support/fake_switching.h"
#include "tests/support/must.h"

namespace tracectl {
namespace {

using on_kernel::FakeSwitching;
using on_kernel::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr SessionId kOne = 1, kOther = 2;
constexpr pid_t kPid = 4711;

class StagingTest : public ::testing::Test {
 protected:
  // The n-th site of a file, for one process.
  SlotSite site(uint64_t n, ino_t file = 1, pid_t filter = kPid) const {
    return {SlotKey{.device = 1, .inode = file, .filter = filter, .offset = n}, object, false};
  }
  Hook hook(SessionId session, uint32_t stat, pid_t tgid = kPid) const {
    Hook hook;
    hook.session = session;
    hook.stat = stat;
    hook.tgid = tgid;
    return hook;
  }
  SlotId slot_of(const SlotSite& site) const { return slots.by_key.at(site.key); }
  const tc_generation& active(SlotId slot) {
    return switching.slots()[slot].generation[switching.epoch() & 1];
  }
  const tc_generation& staged(SlotId slot) {
    return switching.slots()[slot].generation[(switching.epoch() & 1) ^ 1];
  }

  // A commit that succeeds.
  template <class Plan> void commit(Plan plan) {
    Staging staging(switching, slots);
    plan(staging);
    must(staging.build());
    staging.activate([] {}, [] {});
  }
  void set(uint64_t n, std::vector<Hook> hooks) {
    commit([&](Staging& staging) { must(staging.want(site(n), hooks[0].session, hooks)); });
  }

  // The state that a failed commit must leave unchanged.
  struct State {
    std::vector<std::string> slots, hooks;
    uint64_t epoch;
    uint32_t slot_ids, hook_ids;
    size_t by_key, by_id;
    std::vector<uint32_t> links;
    bool operator==(const State&) const = default;
  };
  State state() {
    State state{{},
                {},
                switching.epoch(),
                slots.slot_ids.used(),
                slots.hook_ids.used(),
                slots.by_key.size(),
                slots.by_id.size(),
                switching.open_links()};
    for (const auto& [id, slot] : slots.by_id) {
      const auto* bytes = reinterpret_cast<const char*>(&switching.slots()[id]);
      state.slots.emplace_back(bytes, sizeof(tc_slot));
      for (const uint32_t rest : slot.rest)
        state.hooks.emplace_back(reinterpret_cast<const char*>(&switching.hooks()[rest]),
                                 sizeof(tc_hook));
    }
    return state;
  }

  OwnReading reading;
  ObjectPtr object =
      must(Object::open(reading, on_file::as_file(on_file::ElfBuilder{}.build()), "/f"));
  FakeSwitching switching;
  Slots slots{switching};
};

Error no_memory() { return Error{Code::exhausted, "no memory"}; }

TEST_F(StagingTest, NothingIsInForceBeforeTheSwitchAndBothGenerationsAreAfterIt) {
  Staging staging(switching, slots);
  must(staging.want(site(1), kOne, {hook(kOne, 10)}));
  must(staging.build());
  const SlotId slot = slot_of(site(1));
  EXPECT_EQ(active(slot).hook_count, 0u);
  EXPECT_EQ(staged(slot).hook_count, 1u);
  EXPECT_EQ(staged(slot).first.stat, 10u);
  EXPECT_EQ(staging.activate([] {}, [] {}), 1u);
  EXPECT_EQ(active(slot).first.stat, 10u);
  EXPECT_EQ(staged(slot).first.stat, 10u);
  EXPECT_THAT(switching.log, ElementsAre("arm", "switch", "wait, links open: 1"));
}

TEST_F(StagingTest, AReplacedSpecArmsNothing) {
  set(1, {hook(kOne, 10)});
  switching.log.clear();
  bool old_in_force = false;
  switching.at_switch = [&] { old_in_force = active(slot_of(site(1))).first.stat == 10; };
  set(1, {hook(kOne, 11)});
  EXPECT_TRUE(old_in_force);
  EXPECT_EQ(active(slot_of(site(1))).first.stat, 11u);
  EXPECT_THAT(switching.log, ElementsAre("switch", "wait, links open: 1"));
}

TEST_F(StagingTest, OldCountersAreFinalAfterTheWaitAndBeforeTheirHooksAreOverwritten) {
  set(1, {hook(kOne, 10)});
  Staging staging(switching, slots);
  must(staging.want(site(1), kOne, {hook(kOne, 11)}));
  must(staging.build());
  switching.log.clear();
  staging.activate([] {},
                   [&] {
                     EXPECT_THAT(switching.log, ElementsAre("switch", "wait, links open: 1"));
                     EXPECT_EQ(staged(slot_of(site(1))).first.stat, 10u);
                   });
}

TEST_F(StagingTest, SessionsShareASlotAndEachHasItsHooks) {
  set(1, {hook(kOne, 10)});
  set(1, {hook(kOther, 20), hook(kOther, 21)});
  const SlotId slot = slot_of(site(1));
  EXPECT_EQ(active(slot).hook_count, 3u);
  EXPECT_EQ(active(slot).first.stat, 10u);
  const tc_hook& second = switching.hooks()[active(slot).first.next];
  EXPECT_EQ(second.stat, 20u);
  const tc_hook& third = switching.hooks()[second.next];
  EXPECT_EQ(third.stat, 21u);
  EXPECT_EQ(third.next, 0u);
  commit([&](Staging& staging) { staging.drop(slot, kOne); });
  EXPECT_EQ(active(slot).hook_count, 2u);
  EXPECT_EQ(active(slot).first.stat, 20u);
  EXPECT_EQ(slots.hook_ids.used(), 1u);
}

TEST_F(StagingTest, TheLastDropDisarmsAndFreesTheSlot) {
  set(1, {hook(kOne, 10)});
  const SlotId slot = slot_of(site(1));
  switching.log.clear();
  commit([&](Staging& staging) { staging.drop(slot, kOne); });
  EXPECT_THAT(switching.log, ElementsAre("switch", "wait, links open: 1"));
  EXPECT_THAT(switching.open_links(), IsEmpty());
  EXPECT_TRUE(slots.by_key.empty() && slots.by_id.empty() && slots.links.empty());
  EXPECT_EQ(slots.slot_ids.used(), 0u);
}

TEST_F(StagingTest, ALinkThatLosesASiteIsReplacedBeforeItIsClosed) {
  commit([&](Staging& staging) {
    for (uint64_t n = 1; n <= 3; ++n) must(staging.want(site(n), kOne, {hook(kOne, 10)}));
  });
  const auto before = switching.open_links();
  switching.log.clear();
  uint64_t flag = 0;
  switching.at_wait = [&] { flag = active(slot_of(site(1))).link >> 32; };
  commit([&](Staging& staging) { staging.drop(slot_of(site(2)), kOne); });
  EXPECT_EQ(flag, uint64_t{TC_HANDOVER_OF_ONE});
  EXPECT_THAT(switching.log, ElementsAre("arm", "switch", "wait for hits, links open: 2"));
  ASSERT_EQ(switching.open_links().size(), 1u);
  EXPECT_NE(switching.open_links(), before);
  EXPECT_EQ(switching.armed.back().sites.size(), 2u);
  for (const uint64_t n : {1, 3})
    EXPECT_EQ(active(slot_of(site(n))).link, switching.open_links()[0]);
}

TEST_F(StagingTest, ALinkIsForOneFileAndOneProcess) {
  commit([&](Staging& staging) {
    for (const auto& [file, filter] : {std::pair{1, kPid}, {1, 0}, {2, kPid}})
      for (uint64_t n = 1; n <= 2; ++n)
        must(staging.want(site(n, static_cast<ino_t>(file), filter), kOne, {hook(kOne, 10)}));
  });
  ASSERT_EQ(switching.armed.size(), 3u);
  for (const ArmRequest& request : switching.armed) EXPECT_EQ(request.sites.size(), 2u);
}

// Each is disarmed on its own there, and takes long.
TEST_F(StagingTest, WhereSitesAreDisarmedOneByOneTakingOneOffArmsAndDisarmsNoOther) {
  switching.one_by_one = true;
  commit([&](Staging& staging) {
    for (uint64_t n = 1; n <= 3; ++n) must(staging.want(site(n), kOne, {hook(kOne, 10)}));
  });
  auto stay = switching.open_links();
  EXPECT_EQ(stay.size(), 3u);
  std::erase(stay, active(slot_of(site(2))).link);
  switching.log.clear();
  commit([&](Staging& staging) { staging.drop(slot_of(site(2)), kOne); });
  EXPECT_THAT(switching.log, ElementsAre("switch", "wait, links open: 3"));
  EXPECT_EQ(switching.open_links(), stay);
}

TEST_F(StagingTest, TheProcessIsComparedThoughTheLinkFiltersByIt) {
  const auto compared = [&](uint64_t n, pid_t filter) {
    commit(
        [&](Staging& staging) { must(staging.want(site(n, 1, filter), kOne, {hook(kOne, 10)})); });
    return active(slot_of(site(n, 1, filter))).first.tgid;
  };
  EXPECT_EQ(compared(1, kPid), static_cast<uint32_t>(kPid));
  EXPECT_EQ(compared(2, 0), static_cast<uint32_t>(kPid));  // next to a setting for many processes
}

// ---- failures: nothing changes ----

TEST_F(StagingTest, ARefusedSiteChangesNothing) {
  set(1, {hook(kOne, 10)});
  set(1, {hook(kOther, 20)});
  const State before = state();
  switching.refuse = [](const ArmRequest&) {
    return ArmFailure{Error{Code::unsupported, "refused"}, {{1, "this one"}}};
  };
  {
    Staging staging(switching, slots);
    must(staging.want(site(1), kOne, {hook(kOne, 11), hook(kOne, 12)}));
    must(staging.want(site(2), kOne, {hook(kOne, 13)}));
    must(staging.want(site(3), kOne, {hook(kOne, 14)}));
    EXPECT_FALSE(staging.build());
    ASSERT_EQ(staging.refused().size(), 1u);
    EXPECT_EQ(staging.refused()[0].key, site(3).key);
    EXPECT_EQ(staging.refused()[0].reason, "this one");
  }
  EXPECT_EQ(state(), before);
}

TEST_F(StagingTest, ALinkThatWasMadeBeforeAnotherFailedIsClosed) {
  set(1, {hook(kOne, 10)});
  const State before = state();
  size_t asked = 0;
  switching.refuse = [&](const ArmRequest&) -> std::optional<ArmFailure> {
    if (++asked == 1) return std::nullopt;
    return ArmFailure{no_memory(), {}};
  };
  {
    Staging staging(switching, slots);
    must(staging.want(site(5, 1), kOne, {hook(kOne, 11)}));
    must(staging.want(site(5, 2), kOne, {hook(kOne, 12)}));
    must(staging.want(site(5, 3), kOne, {hook(kOne, 13)}));
    const auto built = staging.build();
    ASSERT_FALSE(built);
    EXPECT_EQ(built.error().message, "no memory");
    EXPECT_EQ(switching.open_links().size(), 2u);
    EXPECT_EQ(asked, 2u);  // after memory has run out, the third is not tried
  }
  EXPECT_EQ(state(), before);
}

TEST_F(StagingTest, NothingIsArmedIfThereIsNoRoomForAllOfIt) {
  switching.one_by_one = true;
  switching.most_places = 2;
  set(1, {hook(kOne, 10)});
  const State before = state();
  {
    Staging staging(switching, slots);
    for (uint64_t n = 2; n <= 4; ++n) must(staging.want(site(n), kOne, {hook(kOne, 10)}));
    const auto built = staging.build();
    ASSERT_FALSE(built);
    EXPECT_EQ(built.error().code, Code::exhausted);
    EXPECT_EQ(switching.armed.size(), 1u);
  }
  EXPECT_EQ(state(), before);
}

TEST_F(StagingTest, WhereSitesAreDisarmedOneByOneAllThatAreRefusedAreFoundAtOnce) {
  switching.one_by_one = true;
  size_t asked = 0;
  switching.refuse = [&](const ArmRequest&) -> std::optional<ArmFailure> {
    if (++asked % 2 == 1) return std::nullopt;
    return ArmFailure{Error{Code::unsupported, "refused"}, {{0, "this one"}}};
  };
  {
    Staging staging(switching, slots);
    for (uint64_t n = 1; n <= 4; ++n) must(staging.want(site(n), kOne, {hook(kOne, 10)}));
    EXPECT_FALSE(staging.build());
    ASSERT_EQ(staging.refused().size(), 2u);
    EXPECT_EQ(staging.refused()[0].key, site(2).key);
    EXPECT_EQ(staging.refused()[1].key, site(4).key);
  }
  EXPECT_TRUE(switching.open_links().empty());
}

TEST_F(StagingTest, ALinkThatCannotBeReplacedStays) {
  commit([&](Staging& staging) {
    for (uint64_t n = 1; n <= 2; ++n) must(staging.want(site(n), kOne, {hook(kOne, 10)}));
  });
  const State before = state();
  switching.refuse = [](const ArmRequest&) { return ArmFailure{no_memory(), {}}; };
  {
    Staging staging(switching, slots);
    staging.drop(slot_of(site(2)), kOne);
    EXPECT_FALSE(staging.build());
  }
  EXPECT_EQ(state(), before);
}

TEST_F(StagingTest, WithoutAWayToWaitNothingIsBegun) {
  switching.can_wait = Error{Code::kernel, "no membarrier"};
  const State before = state();
  {
    Staging staging(switching, slots);
    must(staging.want(site(1), kOne, {hook(kOne, 10)}));
    EXPECT_FALSE(staging.build());
  }
  EXPECT_EQ(state(), before);
  EXPECT_THAT(switching.log, IsEmpty());
}

TEST_F(StagingTest, AFullTableIsNamedAndEmptyAgainAfterwards) {
  const State before = state();
  {
    Staging staging(switching, slots);
    Result<SlotId> wanted = SlotId{0};
    for (uint64_t n = 1; wanted && n <= TC_MAX_SLOTS; ++n)
      wanted = staging.want(site(n), kOne, {hook(kOne, 10)});
    ASSERT_FALSE(wanted);
    EXPECT_EQ(wanted.error().code, Code::exhausted);
    EXPECT_THAT(wanted.error().message, HasSubstr("table of armed sites is full (1048576)"));
  }
  EXPECT_EQ(state(), before);
}

// Slots, and hooks besides the first of each, are made when a commit first needs them.
TEST_F(StagingTest, WithoutMemoryForMoreSlotsNothingChanges) {
  const auto want_many = [&](Staging& staging) {
    for (uint64_t n = 1; n <= TC_FIRST_SLOTS; ++n)
      must(staging.want(site(n), kOne, {hook(kOne, 10)}));
  };
  const State before = state();
  switching.most_chunks = 0;
  {
    Staging staging(switching, slots);
    want_many(staging);
    EXPECT_EQ(staging.bytes_to_grow(), TC_CHUNK_SLOTS * sizeof(tc_slot));
    const auto built = staging.build();
    ASSERT_FALSE(built);
    EXPECT_EQ(built.error().message, "no memory for slots");
  }
  EXPECT_EQ(state(), before);
  EXPECT_EQ(switching.slots().size(), uint32_t{TC_FIRST_SLOTS});
  switching.most_chunks = 1;
  commit(want_many);
  EXPECT_EQ(switching.slots().size(), uint32_t{TC_FIRST_SLOTS + TC_CHUNK_SLOTS});
  EXPECT_EQ(active(TC_FIRST_SLOTS).hook_count, 1u);
  EXPECT_EQ(switching.hooks().size(), 0u);
  set(1, {hook(kOne, 10), hook(kOne, 11)});
  EXPECT_EQ(switching.hooks().size(), uint32_t{TC_CHUNK_HOOKS});
}

TEST_F(StagingTest, ASiteHasRoomForSoManySettings) {
  Staging staging(switching, slots);
  const std::vector<Hook> most(TC_MAX_HOOKS_OF_SLOT, hook(kOne, 10));
  EXPECT_TRUE(staging.want(site(1), kOne, most));
  EXPECT_TRUE(staging.want(site(1), kOne, most));  // replaces them
  const auto one_more = staging.want(site(1), kOther, {hook(kOther, 20)});
  ASSERT_FALSE(one_more);
  EXPECT_THAT(one_more.error().message, HasSubstr("more than 64 settings"));
}

}  // namespace
}  // namespace tracectl
