// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "daemon/spec/parse.h"

using namespace tracectl;

namespace {

Spec parsed(std::string_view text) {
  auto spec = parse_spec(text);
  EXPECT_TRUE(spec) << text << ": " << (spec ? "" : spec.error().message);
  return spec ? *spec : Spec{};
}

Spec spec_of(bool event, bool count, std::vector<Key> by = {}) { return {event, count, by}; }

std::string refusal(std::string_view text, size_t column) {
  auto spec = parse_spec(text);
  if (spec) return "accepted";
  EXPECT_EQ(spec.error().spot.value_or(Spot{}), (Spot{std::string{text}, column}));
  return spec.error().message;
}

bool ends_with(const std::string& text, std::string_view end) { return text.ends_with(end); }

}  // namespace

TEST(Spec, ActionsAreSeparatedByCommas) {
  EXPECT_EQ(parsed("event"), spec_of(true, false));
  EXPECT_EQ(parsed("count"), spec_of(false, true));
  EXPECT_EQ(parsed(" event ,\tcount "), spec_of(true, true));
}

TEST(Spec, CommaBehindByGoesOnWithKeysThenWithActions) {
  EXPECT_EQ(parsed("count by tid"), spec_of(false, true, {Key::tid}));
  EXPECT_EQ(parsed("count by tid, pid"), spec_of(false, true, {Key::tid, Key::pid}));
  EXPECT_EQ(parsed("count by pid, event"), spec_of(true, true, {Key::pid}));
  EXPECT_EQ(parsed("count by pid,tid,event"), spec_of(true, true, {Key::pid, Key::tid}));
}

TEST(Spec, CanonicalTextReadsBackAsTheSameSpec) {
  for (const char* text :
       {"event", "count", "event, count", "count by tid, pid", "event, count by pid"}) {
    EXPECT_EQ(to_string(parsed(text)), text);
  }
  EXPECT_EQ(to_string(parsed("count by pid, event")), "event, count by pid");
}

TEST(Spec, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_TRUE(ends_with(refusal("event, cuont", 7), "did you mean \"count\"?"));
  EXPECT_TRUE(ends_with(refusal("count by tiid", 9), "did you mean \"tid\"?"));
  EXPECT_TRUE(ends_with(refusal("count bu pid", 6), "did you mean \"by\"?"));
  std::string far = refusal("histogram", 0);
  EXPECT_NE(far.find("unknown action \"histogram\""), std::string::npos);
  EXPECT_EQ(far.find("did you mean"), std::string::npos);
}

TEST(Spec, MissingPartsAreShownWhereTheyShouldBe) {
  EXPECT_NE(refusal("", 0).find("an action is missing"), std::string::npos);
  EXPECT_NE(refusal("event,", 6).find("an action is missing"), std::string::npos);
  EXPECT_NE(refusal(",event", 0).find("an action is missing"), std::string::npos);
  EXPECT_NE(refusal("count by", 8).find("a key is missing"), std::string::npos);
  EXPECT_NE(refusal("count by pid,", 13).find("an action is missing"), std::string::npos);
}

TEST(Spec, NothingStandsTwice) {
  EXPECT_EQ(refusal("event, event", 7), "event stands here twice");
  EXPECT_EQ(refusal("count, count by pid", 7), "count stands here twice");
  EXPECT_EQ(refusal("count by pid, pid", 14), "pid stands here twice");
}

TEST(Spec, StrangeCharactersAreShown) {
  EXPECT_EQ(refusal("count(pid)", 5), "\"(\" has no meaning here");
  EXPECT_EQ(refusal("event\x01", 5), "this character has no meaning here");
  EXPECT_FALSE(parse_spec(std::string(5000, ' ') + "event"));
}
