// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "client/page/page_data.h"
#include "tests/support/call_events.h"

using namespace tracectl;
using testing::ElementsAre;
using testing::FieldsAre;

namespace {

// The members of an item that determine its place on the page.
struct Placed {
  uint64_t begin_ns, duration_ns;
  uint32_t depth;
  ItemKind kind;
};

std::vector<Placed> placed_of(const PageData& data) {
  std::vector<Placed> placed;
  for (const PageItem& item : data.items)
    placed.push_back({item.begin_ns, item.duration_ns, item.depth, item.kind});
  return placed;
}

std::vector<Placed> placed_of(const std::vector<Event>& events) {
  PageCollector collector;
  for (const Event& event : events) collector.add(event);
  return placed_of(collector.finish());
}

// A return outside of any graph.
Event return_of(const std::string& function, uint64_t ts_ns, uint64_t duration_ns) {
  Event event = event_of(EventKind::returned, "uprobe:/usr/bin/prog:" + function, ts_ns);
  event.duration_ns = duration_ns;
  return event;
}

}  // namespace

TEST(PageData, CallIsOneItemFromItsBeginningToItsEnd) {
  EXPECT_THAT(placed_of({begin_of("f", {1, 0}, 100), begin_of("g", {2, 1}, 110),
                         unwound_of("g", {2, 1}, 140, 29), end_of("f", {1, 0}, 150, 48)}),
              ElementsAre(FieldsAre(100, 48, 0, ItemKind::returned),
                          FieldsAre(110, 29, 1, ItemKind::unwound)));
}

TEST(PageData, HitWithinCallsStandsBelowThem) {
  EXPECT_THAT(placed_of({begin_of("f", {1, 0}, 100), note_of("tree:mark", 120),
                         end_of("f", {1, 0}, 150, 50)}),
              ElementsAre(FieldsAre(100, 50, 0, ItemKind::returned),
                          FieldsAre(120, PageItem::kNoDuration, 1, ItemKind::hit)));
}

TEST(PageData, CallWhoseEndIsNotSeenLastsUntilTheLastEvent) {
  EXPECT_THAT(placed_of({begin_of("f", {1, 0}, 100), in_thread(5, note_of("tree:mark", 170))}),
              ElementsAre(FieldsAre(100, 70, 0, ItemKind::no_end),
                          FieldsAre(170, PageItem::kNoDuration, 0, ItemKind::hit)));
}

TEST(PageData, CallWhoseEndWasLostLastsUntilThatIsKnown) {
  EXPECT_THAT(placed_of({begin_of("f", {1, 0}, 100), begin_of("g", {2, 0}, 130),
                         end_of("g", {2, 0}, 180, 50)}),
              ElementsAre(FieldsAre(100, 30, 0, ItemKind::no_end),
                          FieldsAre(130, 50, 0, ItemKind::returned)));
}

TEST(PageData, CallWhoseBeginningIsNotSeenIsKnownByItsEnd) {
  EXPECT_THAT(placed_of({end_of("f", {7, 0}, 150, 50)}),
              ElementsAre(FieldsAre(100, 50, 0, ItemKind::no_beginning)));
}

TEST(PageData, ReturnsOfNoGraphNestByTheirTimes) {
  EXPECT_THAT(placed_of({return_of("g", 130, 20), return_of("g", 145, 10), return_of("f", 150, 50),
                         return_of("f", 170, 10)}),
              ElementsAre(FieldsAre(100, 50, 0, ItemKind::returned),
                          FieldsAre(110, 20, 1, ItemKind::returned),
                          FieldsAre(135, 10, 1, ItemKind::returned),
                          FieldsAre(160, 10, 0, ItemKind::returned)));
}

TEST(PageData, WhatHasNoRoomIsCountedAndItsEndIsNobodyElses) {
  PageCollector collector(2);
  for (const Event& event :
       {begin_of("f", {1, 0}, 100), begin_of("g", {2, 1}, 110), begin_of("h", {3, 2}, 120),
        end_of("h", {3, 2}, 130, 10), end_of("g", {2, 1}, 140, 30), end_of("f", {1, 0}, 150, 50),
        note_of("tree:mark", 160)})
    collector.add(event);
  const PageData& data = collector.finish();
  EXPECT_THAT(placed_of(data), ElementsAre(FieldsAre(100, 50, 0, ItemKind::returned),
                                           FieldsAre(110, 30, 1, ItemKind::returned)));
  EXPECT_EQ(data.left_out_items, 2);
  EXPECT_EQ(data.events, 7);
  EXPECT_EQ(data.last_ns, 160);
}

TEST(PageData, CountsByProbeCpuAndCause) {
  PageCollector collector;
  collector.add(begin_of("f", {1, 0}, 100));
  collector.add(end_of("f", {1, 0}, 150, 50));
  collector.add(note_of("tree:mark", 160));
  collector.add(Lost{.ts_ns = 155, .count = 3, .cause = LossCause::slow_disk, .cpu = 0});
  const PageData& data = collector.finish();
  ASSERT_EQ(data.probes.size(), 2);
  EXPECT_EQ(data.names[data.probes[0].name], "f");
  EXPECT_EQ(data.names[data.probes[1].name], "tree:mark");
  EXPECT_EQ(data.probes[0].hits, 1);
  EXPECT_EQ(data.probes[0].returned, 1);
  EXPECT_EQ(data.probes[1].hits, 1);
  EXPECT_EQ(data.cpus, (std::map<unsigned, uint64_t>{{1, 3}}));
  EXPECT_EQ(data.lost, 3);
  ASSERT_EQ(data.losses.size(), 1);
  EXPECT_EQ(data.losses[0].cpu, 1);
}

TEST(PageTexts, AreThereOnceEach) {
  PageTexts texts(1 << 20);
  const uint32_t first = texts.number_of("oak"), second = texts.number_of("birch");
  EXPECT_EQ(texts.number_of(""), 0);
  EXPECT_EQ(texts.number_of("oak"), first);
  EXPECT_EQ(texts[first], "oak");
  EXPECT_EQ(texts[second], "birch");
  EXPECT_EQ(texts.bytes(), "oakbirch");
}

TEST(PageTexts, AreCutAndLeftOutWhereTheyWouldBeTooLarge) {
  PageTexts texts(PageTexts::kLongest + 2);
  const std::string longest(PageTexts::kLongest, 'x');
  EXPECT_EQ(texts[texts.number_of(longest + "y")], longest.substr(3) + "...");
  EXPECT_EQ(texts.cut(), 1);
  texts.number_of(longest + "z");  // shown as the same text
  EXPECT_EQ(texts.cut(), 1);
  EXPECT_EQ(texts.number_of("oak"), 0);
  EXPECT_EQ(texts.left_out(), 1);
  EXPECT_NE(texts.number_of("ab"), 0);
}
