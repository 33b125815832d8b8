// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/render/args.h"
#include "daemon/protocol/codec.h"
#include "daemon/protocol/events.h"
#include "daemon/protocol/messages.h"
#include "daemon/protocol/notification_reader.h"

using namespace tracectl;
using namespace tracectl::protocol;
using nlohmann::json;

namespace {

Argument type(uint8_t size_bytes, bool is_signed, bool is_float = false) {
  Argument argument;
  argument.size_bytes = size_bytes;
  argument.is_signed = is_signed;
  argument.is_float = is_float;
  return argument;
}

Event event_with(Arguments types, std::vector<Value> args) {
  Event event;
  event.ts_ns = 5'000'000'001;
  event.epoch = 7;
  event.cpu = 1;
  event.pid = 10;
  event.tid = 11;
  event.comm = "postgres";
  event.source = std::make_shared<EventSource>(
      EventSource{"usdt:/usr/lib/postgres:postgresql:query__start", "s", std::move(types)});
  event.args = std::move(args);
  return event;
}

// Parsed by an independent parser.
json read_back(const Event& event) {
  WallClock wall{0};
  return json::parse(event_json(event, wall));
}

std::string comm_read_back(std::string comm) {
  Event event = event_with({}, {});
  event.comm = std::move(comm);
  return read_back(event)["comm"];
}

json arg_read_back(const Argument& argument, uint64_t bits) {
  return read_back(event_with({argument}, {bits}))["args"][0];
}

uint64_t bits_of(double value) { return std::bit_cast<uint64_t>(value); }

std::string wall_of(int64_t offset_ns, uint64_t ts_ns) {
  std::string out;
  WallClock{offset_ns}.append(out, ts_ns);
  return out;
}

Result<StreamItem> through_the_wire(const std::string& line) {
  auto incoming = parse_incoming(line);
  EXPECT_TRUE(incoming);
  return parse_notification(std::get<Notification>(*incoming));
}

Event return_with(const Argument& result, Value value) {
  Event event = event_with({}, {});
  auto source = std::make_shared<EventSource>(*event.source);
  source->result = result;
  event.source = source;
  event.kind = EventKind::returned;
  event.retval = value;
  return event;
}

Argument result_at(Argument::Place place, const std::string& text) {
  Argument result = type(4, true);
  result.place = place;
  result.text = text;
  return result;
}

// A struct in registers, with an argument: they have texts of their own.
Event return_of_struct() {
  Argument result = result_at(Argument::Place::in_register, "in rax and rdx");
  result.kind = Argument::Kind::aggregate;
  result.is_string = true;
  result.declared_type = "struct pair";
  Event event = return_with(result, 0);
  event.strings = {"{a = 27, b = ?}"};
  auto source = std::make_shared<EventSource>(*event.source);
  source->arguments = {type(8, false)};
  source->arguments[0].kind = Argument::Kind::text;
  source->arguments[0].name = "path";
  event.source = source;
  event.args = {0x7ffe1000};
  return event;
}

// The last event of lines from a daemon.
Event last_event_of(const std::string& lines) {
  NotificationReader reader;
  Event last;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);)
    if (auto item = *reader.read(std::get<Notification>(*parse_incoming(line + "\n"))))
      last = std::get<Event>(std::move(*item));
  return last;
}

const std::string kReplacement = "\xef\xbf\xbd";

}  // namespace

TEST(EventJson, IsTheObjectOfTheContract) {
  Event event = event_with({type(4, true), type(8, false)}, {Value{0xfffffffe}, std::nullopt});
  EXPECT_EQ(read_back(event),
            json::parse(R"({"ts":5000000001,"wall":"1970-01-01T00:00:05.000000001Z",
    "epoch":7,"session":"s","cpu":1,"pid":10,"tid":11,"comm":"postgres",
    "probe":"usdt:/usr/lib/postgres:postgresql:query__start","kind":"hit","args":[-2,null]})"));
}

TEST(EventJson, HasTheFieldsOfTheMessage) {
  json object = read_back(event_with({type(8, true)}, {Value{UINT64_MAX}}));
  auto message = from_json<EventNotification>(object);
  ASSERT_TRUE(message);
  EXPECT_EQ(to_json(*message).value(), object);
  json lost = json::parse(lost_json({1, 2, LossCause::slow_client, {}}, "s"));
  EXPECT_EQ(to_json(*from_json<LostNotification>(lost)).value(), lost);
}

TEST(EventJson, StackHasTheFieldsOfTheMessageAndReadsBackAsItWas) {
  Frame inlined;
  inlined.address = 4200;
  inlined.module = "/usr/bin/x";
  inlined.build_id = "00ff";
  inlined.offset = 200;
  inlined.function = "middle";
  inlined.file = "/src/x \"1\".c";
  inlined.line = 12;
  inlined.inlined = true;
  Frame own = inlined;
  own.function = "outer(int)";
  own.function_offset = 17;
  own.inlined = false;
  own.size_bytes = 48;
  Frame unknown;
  unknown.address = UINT64_MAX;
  Event event = event_with({}, {});
  event.stack = std::make_shared<const Stack>(Stack{
      .by = StackBy::unwind_tables, .end = StackEnd::no_table, .frames = {inlined, own, unknown}});
  const json object = read_back(event);
  EXPECT_EQ(object["stack_by"], "unwind_tables");
  EXPECT_EQ(object["stack_end"], "no_table");
  EXPECT_EQ(object["stack"][1],
            json::parse(R"x({"address":4200,"module":"/usr/bin/x","build_id":"00ff","offset":200,
    "function":"outer(int)","function_offset":17,"file":"/src/x \"1\".c","line":12,
    "inlined":false,"size_bytes":48})x"));
  EXPECT_EQ(object["stack"][2], json::parse(R"({"address":18446744073709551615,"inlined":false})"));
  auto message = from_json<EventNotification>(object);
  ASSERT_TRUE(message);
  EXPECT_EQ(to_json(*message).value(), object);
  WallClock wall{0};
  std::string line;
  append_event_line(line, event, wall);
  line.pop_back();
  const auto item = through_the_wire(line);
  ASSERT_TRUE(item);
  EXPECT_EQ(*std::get<Event>(*item).stack, *event.stack);
}

TEST(EventJson, IntegersAreTruncatedAndSignExtendedByTheirType) {
  uint64_t bits = 0x8877'6655'f4f3'f2f1;
  EXPECT_EQ(arg_read_back(type(1, false), bits), 0xf1);
  EXPECT_EQ(arg_read_back(type(1, true), bits), -15);
  EXPECT_EQ(arg_read_back(type(2, false), bits), 0xf2f1);
  EXPECT_EQ(arg_read_back(type(2, true), bits), static_cast<int16_t>(0xf2f1));
  EXPECT_EQ(arg_read_back(type(4, false), bits), 0xf4f3f2f1);
  EXPECT_EQ(arg_read_back(type(4, true), bits), static_cast<int32_t>(0xf4f3f2f1));
  EXPECT_EQ(arg_read_back(type(8, false), bits), bits);
  EXPECT_EQ(arg_read_back(type(8, true), bits), static_cast<int64_t>(bits));
  EXPECT_EQ(arg_read_back(type(8, true), uint64_t{1} << 63), INT64_MIN);
}

TEST(EventJson, FloatsAreNumbersThatReadBackAsTheSame) {
  for (double value : {0.1, -2.5, 1e300, 5e-324, 3.0, 0.0}) {
    EXPECT_EQ(arg_read_back(type(8, true, true), bits_of(value)).get<double>(), value);
  }
  EXPECT_EQ(arg_read_back(type(4, true, true), std::bit_cast<uint32_t>(0.1f)).get<float>(), 0.1f);
  EXPECT_EQ(arg_read_back(type(8, true, true), bits_of(NAN)), "NaN");
  EXPECT_EQ(arg_read_back(type(8, true, true), bits_of(-INFINITY)), "-Infinity");
}

TEST(EventJson, StringsAreThoseTheValuesCount) {
  Argument string;
  string.is_string = true;
  Event event = event_with({string, type(4, true), string, string, string},
                           {Value{1}, Value{5}, Value{0}, std::nullopt, Value{2}});
  event.strings = {"a\"\n", "b\xff"};
  EXPECT_EQ(read_back(event)["args"], (json{"b" + kReplacement, 5, "a\"\n", nullptr, nullptr}));
}

TEST(EventJson, CommMayHoldAnyBytes) {
  EXPECT_EQ(comm_read_back("a\"b\\c\n\x01\x7f"), "a\"b\\c\n\x01\x7f");
  EXPECT_EQ(comm_read_back("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x98"),
            "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x98");
  EXPECT_EQ(comm_read_back("a\xff"
                           "b"),
            "a" + kReplacement + "b");
  EXPECT_EQ(comm_read_back("cut \xe2\x82"), "cut " + kReplacement + kReplacement);
  EXPECT_EQ(comm_read_back("\xc0\xaf"), kReplacement + kReplacement);  // overlong
  EXPECT_EQ(comm_read_back("\xed\xa0\x80"),
            kReplacement + kReplacement + kReplacement);  // surrogate
  EXPECT_EQ(comm_read_back(std::string("\0x", 2)), std::string("\0x", 2));
}

TEST(EventJson, ResultIsWhatItIsKnownToBe) {
  using Place = Argument::Place;
  const json number = read_back(return_with(result_at(Place::in_register, "%rax"), 0xffffffff));
  EXPECT_EQ(number["retval"], -1);
  EXPECT_FALSE(number.contains("retval_is"));
  const json in_register = read_back(return_with(bare_register("rax"), 27));
  EXPECT_EQ(in_register["retval"], 27);
  EXPECT_EQ(in_register["retval_is"], "rax");
  const json unknown = read_back(return_with(result_at(Place::unreadable, "double in xmm0"), {}));
  EXPECT_TRUE(unknown.at("retval").is_null());
  EXPECT_EQ(unknown["retval_is"], "double in xmm0");
  const json nothing = read_back(return_with(result_at(Place::nothing, "nothing"), {}));
  EXPECT_FALSE(nothing.contains("retval") || nothing.contains("retval_is"));
  EXPECT_EQ(read_back(return_of_struct())["retval"], "{a = 27, b = ?}");
  const json left_by_jump = read_back(return_with(result_at(Place::in_register, "%rax"), {}));
  EXPECT_TRUE(left_by_jump.at("retval").is_null());
  EXPECT_FALSE(left_by_jump.contains("retval_is"));
}

// Without a description of the probe, and with it.
TEST(EventLine, TheClientReadsBackWhatAResultIs) {
  using Place = Argument::Place;
  WallClock wall{0};
  Argument typed = result_at(Place::in_register, "%rax");
  typed.declared_type = "int";
  for (const Event& event :
       {return_with(typed, 5), return_with(bare_register("rax"), 27),
        return_with(result_at(Place::unreadable, "double in xmm0"), {}),
        return_with(result_at(Place::nothing, "nothing"), {}), return_of_struct()})
    for (const bool is_described : {false, true}) {
      std::string lines;
      if (is_described) append_probe_line(lines, *event.source);
      append_event_line(lines, event, wall);
      const Event read = last_event_of(lines);
      EXPECT_EQ(event_json(read, wall), event_json(event, wall));
      EXPECT_EQ(returns_nothing(*read.source), returns_nothing(*event.source));
      EXPECT_EQ(what_retval_is(read), what_retval_is(event));
      EXPECT_EQ(result_text(read), result_text(event));
    }
}

TEST(EventJson, TagIsThereIfTheThreadHasOne) {
  Event event = event_with({}, {});
  EXPECT_FALSE(read_back(event).contains("tag"));
  event.tag = "slow\"";
  EXPECT_EQ(read_back(event)["tag"], "slow\"");
}

// The parser checks the JSON, because it refuses text that is not UTF-8.
TEST(EventJson, EveryPairOfBytesGivesValidJson) {
  for (int first = 0; first < 256; first++) {
    for (int second = 0; second < 256; second++) {
      Event event = event_with({}, {});
      event.comm = {'a', 'b', static_cast<char>(first), static_cast<char>(second)};
      event.comm += "cdefghijkl";
      WallClock wall{0};
      auto object = json::parse(event_json(event, wall), nullptr, false);
      ASSERT_FALSE(object.is_discarded()) << first << " " << second;
      if (first < 0x80 && second < 0x80) {
        ASSERT_EQ(object["comm"], event.comm);
      }
    }
  }
}

// Expected values from date(1): date -u -d @SECONDS +%FT%TZ
TEST(WallClock, IsRfc3339WithNanoseconds) {
  EXPECT_EQ(wall_of(1'700'000'000'000'000'000, 123), "2023-11-14T22:13:20.000000123Z");
  EXPECT_EQ(wall_of(951'782'400'000'000'000, 999'999'999), "2000-02-29T00:00:00.999999999Z");
  EXPECT_EQ(wall_of(-1, 0), "1969-12-31T23:59:59.999999999Z");
}

TEST(WallClock, FollowsFromSecondToSecond) {
  WallClock clock{0};
  std::string out;
  for (uint64_t ts : {1'000'000'000u, 1'999'999'999u, 2'000'000'000u, 1'500'000'000u}) {
    clock.append(out, ts);
    out += ' ';
  }
  EXPECT_EQ(out,
            "1970-01-01T00:00:01.000000000Z 1970-01-01T00:00:01.999999999Z "
            "1970-01-01T00:00:02.000000000Z 1970-01-01T00:00:01.500000000Z ");
}

TEST(EventLine, TheClientReadsBackTheEvent) {
  Event sent =
      event_with({type(4, true), type(8, false), type(8, true, true), type(8, false)},
                 {Value{0xffffffff}, Value{UINT64_MAX}, Value{bits_of(0.5)}, std::nullopt});
  WallClock wall;
  std::string line;
  append_event_line(line, sent, wall);
  auto item = through_the_wire(line);
  ASSERT_TRUE(item);
  const Event& got = std::get<Event>(*item);
  EXPECT_EQ(got.ts_ns, sent.ts_ns);
  EXPECT_EQ(got.epoch, sent.epoch);
  EXPECT_EQ(got.cpu, sent.cpu);
  EXPECT_EQ(got.pid, sent.pid);
  EXPECT_EQ(got.tid, sent.tid);
  EXPECT_EQ(got.comm, sent.comm);
  EXPECT_EQ(got.source->probe, sent.source->probe);
  EXPECT_EQ(got.source->session, sent.source->session);
  EXPECT_EQ(event_json(got, wall), event_json(sent, wall));
}

TEST(EventLine, TheClientReadsBackStrings) {
  Argument string;
  string.is_string = true;
  Event sent = event_with({string, type(8, true, true), string},
                          {Value{0}, Value{bits_of(INFINITY)}, Value{1}});
  sent.strings = {"select", ""};
  WallClock wall;
  std::string line;
  append_event_line(line, sent, wall);
  const Event got = std::get<Event>(*through_the_wire(line));
  EXPECT_EQ(got.strings, sent.strings);
  EXPECT_TRUE(got.source->arguments[0].is_string);
  EXPECT_TRUE(got.source->arguments[1].is_float);
  EXPECT_EQ(event_json(got, wall), event_json(sent, wall));
}

TEST(EventLine, StringsAreNotTakenForTheParametersThatWereDescribed) {
  Argument named = type(8, false), string;
  named.name = "size";
  string.is_string = true;
  auto read = [reader = NotificationReader{}](const std::string& line) mutable {
    return *reader.read(std::get<Notification>(*parse_incoming(line)));
  };
  WallClock wall;
  std::string probe, plain, values;
  Event event = event_with({named}, {Value{80}});
  append_probe_line(probe, *event.source);
  append_event_line(plain, event, wall);
  Event other = event_with({string}, {Value{0}});
  other.strings = {"select"};
  append_event_line(values, other, wall);
  EXPECT_FALSE(read(probe));
  EXPECT_EQ(std::get<Event>(*read(plain)).source->arguments[0].name, "size");
  EXPECT_TRUE(std::get<Event>(*read(values)).source->arguments[0].is_string);
}

TEST(EventLine, TextsOfParametersThatWereDescribedHaveTheirNames) {
  Argument text, rows = type(4, true);
  text.name = "query";
  text.kind = Argument::Kind::text;
  text.is_string = true;
  rows.name = "rows";
  auto read = [reader = NotificationReader{}](const std::string& line) mutable {
    return *reader.read(std::get<Notification>(*parse_incoming(line)));
  };
  WallClock wall;
  std::string probe, line;
  Event event = event_with({text, rows}, {Value{0}, Value{3}});
  event.strings = {"select"};
  append_probe_line(probe, *event.source);
  append_event_line(line, event, wall);
  EXPECT_FALSE(read(probe));
  const Event got = std::get<Event>(*read(line));
  EXPECT_EQ(got.source->arguments[0].name, "query");
  EXPECT_TRUE(got.source->arguments[0].is_string);
  EXPECT_EQ(got.source->arguments[1].name, "rows");
  EXPECT_EQ(got.strings, event.strings);
}

TEST(EventLine, TheClientReadsBackTheLoss) {
  for (Lost sent : {Lost{1, 2, LossCause::ring_full, 3}, Lost{1, 2, LossCause::slow_client, {}}}) {
    std::string line;
    append_lost_line(line, sent, "s");
    const Lost got = std::get<Lost>(*through_the_wire(line));
    EXPECT_EQ(got.ts_ns, sent.ts_ns);
    EXPECT_EQ(got.count, sent.count);
    EXPECT_EQ(got.cause, sent.cause);
    EXPECT_EQ(got.cpu, sent.cpu);
  }
}

TEST(EventLine, MalformedNotificationsAreRefused) {
  json good = read_back(event_with({}, {}));
  auto with = [&](const char* field, json value) {
    json changed = good;
    changed[field] = std::move(value);
    return parse_notification({"event", changed});
  };
  EXPECT_TRUE(with("cpu", 3));
  EXPECT_FALSE(with("cpu", uint64_t{1} << 40));
  EXPECT_FALSE(with("pid", int64_t{1} << 40));
  EXPECT_FALSE(with("kind", "leave"));
  EXPECT_FALSE(with("stack", json::array()));
  EXPECT_FALSE(with("stack_by", "unwind_tables"));
  EXPECT_FALSE(with("args", {true}));
  EXPECT_FALSE(with("new", 1));
  EXPECT_FALSE(parse_notification({"hello", good}));
  EXPECT_FALSE(parse_notification(
      {"lost", json{{"ts", 1}, {"count", 1}, {"cause", "?"}, {"session", "s"}}}));
}

TEST(EventLine, IsWrittenFastEnoughForAMillionASecond) {
  Event event = event_with({type(4, true), type(8, false), type(8, false)},
                           {Value{5}, Value{0x7ffc12345678}, Value{80}});
  WallClock wall;
  std::string out;
  constexpr int kEvents = 200'000;
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kEvents; i++) {
    out.clear();
    event.ts_ns += 1000;
    append_event_line(out, event, wall);
  }
  auto each =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start) / kEvents;
  RecordProperty("ns_per_event", std::to_string(each.count()));
  // The benchmark has the real limit; this one detects a slow writer even with sanitizers.
  EXPECT_LT(each.count(), 20'000);
}
