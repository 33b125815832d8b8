// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/notified_events.h"

#include <gtest/gtest.h>

#include "daemon/protocol/events.h"

using namespace tracectl;
using namespace tracectl::protocol;

namespace {

constexpr const char* kMangled = "uprobe:/usr/bin/prog:_ZN2ns5parseEi";

Event event_of_probe(const std::string& probe) {
  Argument text;
  text.is_string = true;
  Event event;
  event.ts_ns = 5'000'000'001;
  event.comm = ",\"probe\":\"x\",\"";
  event.source = std::make_shared<EventSource>(EventSource{probe, "s", {text, {}}});
  event.strings = {",\"stack\":"};
  event.args = {0, 7};
  return event;
}

// Without its line feed, as it is taken from a stream.
std::string line_of(const Event& event) {
  WallClock wall{0};
  std::string line;
  append_event_line(line, event, wall);
  line.pop_back();
  return line;
}

// Made from the event, as if it had not come from a daemon.
std::string text_of(const Event& event) {
  WallClock wall{0};
  StreamNames names;
  std::string text;
  append_event(text, event, wall, names.demangled(event.source->probe));
  return text + "\n";
}

}  // namespace

TEST(NotifiedEvents, AreTheLinesThatTheEventsWouldGive) {
  StreamNames names;
  NotifiedEvents events(names);
  for (int round = 0; round < 2; ++round)
    for (const std::string probe :
         {kMangled, "uprobe:/usr/bin/prog:main", "usdt:/a\"b\",\"c:d:e"}) {
      std::string text;
      EXPECT_TRUE(events.append(text, line_of(event_of_probe(probe))));
      EXPECT_EQ(text, text_of(event_of_probe(probe)));
    }
  EXPECT_NE(text_of(event_of_probe(kMangled)).find("\"demangled\":\"ns::parse(int)\""),
            std::string::npos);
}

TEST(NotifiedEvents, WithAStackAreLeftToTheirReader) {
  StreamNames names;
  NotifiedEvents events(names);
  Event event = event_of_probe(kMangled);
  event.stack = std::make_shared<const Stack>();
  std::string text;
  EXPECT_FALSE(events.append(text, line_of(event)));
  EXPECT_TRUE(text.empty());
  const auto item = events.read(line_of(event));
  ASSERT_TRUE(item && *item);
  EXPECT_EQ(std::get<Event>(**item).source->probe, kMangled);
}

TEST(NotifiedEvents, AreNotLossesAndNotOtherLines) {
  StreamNames names;
  NotifiedEvents events(names);
  std::string lost, text;
  append_lost_line(lost, Lost(), "s");
  EXPECT_FALSE(events.append(text, lost));
  EXPECT_FALSE(events.append(text, R"({"jsonrpc":"2.0","method":"event","params":{"ts":1}})"));
  EXPECT_FALSE(events.append(
      text, R"({"jsonrpc":"2.0","method":"event","params":{"ts":1,"probe":"p","kind":7}})"));
  EXPECT_TRUE(text.empty());
}
