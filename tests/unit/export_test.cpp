// SPDX-License-Identifier: BSD-2-Clause
//
// Exports of events that no recording in the corpus has. tests/e2e/export_test.py checks how tools
// read those that it has.
#include <gtest/gtest.h>

#include <algorithm>

#include <bit>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "client/export/export.h"
#include "client/export/flame_graph.h"
#include "client/export/slices.h"
#include "client/output/output_file.h"
#include "tests/support/call_events.h"
#include "tests/support/must.h"
#include "tests/support/output_of.h"

namespace tracectl {
namespace {

using on_kernel::must;
namespace fs = std::filesystem;

constexpr int64_t kWallMinusBootNs = 1'700'000'000'000'000'000;

class ExportTo : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = fs::temp_directory_path() / "export-XXXXXX";
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    directory_ = path;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::unique_ptr<Export> opened(const char* format, size_t most_arguments = 0) {
    const Recorded recorded{.id = 0x1234,
                            .wall_minus_boot_ns = kWallMinusBootNs,
                            .first_ns = 1000,
                            .last_ns = 9000,
                            .most_arguments = most_arguments};
    return must(find_export_format(format)->open(path(), recorded));
  }
  std::string path() const { return directory_ / "out"; }
  std::string text() const {
    std::ifstream file(path());
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path directory_;
};

Argument argument_of(Argument::Kind kind, uint8_t size_bytes, const std::string& name) {
  Argument argument;
  argument.kind = kind;
  argument.size_bytes = size_bytes;
  argument.name = name;
  return argument;
}

// One of each kind, with names that have other meanings in the formats.
Event event_of_all_kinds() {
  using Kind = Argument::Kind;
  Event event = event_of(EventKind::hit, "usdt:/opt/a \"b\"\\c:pro:na-me", 2000);
  auto source = std::make_shared<EventSource>(*event.source);
  source->arguments = {
      argument_of(Kind::integer, 4, "struct"),  argument_of(Kind::pointer, 8, "a-b"),
      argument_of(Kind::integer, 8, "a_b"),     argument_of(Kind::enumeration, 4, "colour"),
      argument_of(Kind::integer, 8, "real"),    argument_of(Kind::text, 8, "name"),
      argument_of(Kind::aggregate, 8, "whole"), argument_of(Kind::integer, 4, "narrow"),
  };
  source->arguments[0].is_signed = true;
  source->arguments[3].enumerators =
      std::make_shared<const Enumerators>(Enumerators{{"RED \"1\"", 1}, {"BLUE", 2}});
  source->arguments[4].is_float = true;
  source->arguments[5].is_string = true;
  source->arguments[7].is_float = true;
  event.source = source;
  event.comm = "a,\"b\"\nc";
  event.tag = "tag 1";
  event.strings = {"x,\"y\"\nz\xff"};
  event.args = {static_cast<uint64_t>(-5),
                0xffff800000000000,
                7,
                1,
                std::bit_cast<uint64_t>(1.5),
                0,
                std::nullopt,
                std::bit_cast<uint32_t>(0.25f)};
  return event;
}

TEST_F(ExportTo, CtfHasAllKindsOfFields) {
  auto to = opened("ctf");
  must(to->add(event_of_all_kinds()));
  must(to->finish());
  const std::string text = output_of({"babeltrace2", "--clock-cycles", "--no-delta", path()});
  EXPECT_EQ(text,
            "[00000000000000002000] usdt:/opt/a \"b\"\\c:pro:na-me: { cpu_id = 1 }, { vpid = 4711, "
            "vtid = 4711, "
            "procname = \"a,\\\"b\\\"\\nc\" }, { tag = \"tag 1\", missing_arguments = 0x40, "
            "struct = -5, a_b = 0xFFFF800000000000, 2_a_b = 7, colour = ( \"RED \\\"1\\\"\" : "
            "container = "
            "1 ), real = 1.5, name = \"x,\\\"y\\\"\\nz\xff\", whole = 0, narrow = 0.25 }\n");
}

TEST_F(ExportTo, CtfFieldsOfArgumentsAreNotThoseBesideThem) {
  Event event = begin_of("f", {1, 0}, 2000);
  auto source = std::make_shared<EventSource>(*event.source);
  source->arguments = {argument_of(Argument::Kind::integer, 4, "depth"),
                       argument_of(Argument::Kind::integer, 4, "call"),
                       argument_of(Argument::Kind::integer, 4, "call")};
  event.source = source;
  event.args = {1, 2, 3};
  auto to = opened("ctf");
  must(to->add(event));
  must(to->finish());
  const std::string text = output_of({"babeltrace2", path()});
  EXPECT_NE(text.find("{ call = 1, depth = 0, 0_depth = 1, 1_call = 2, 2_call = 3 }"),
            std::string::npos)
      << text;
}

TEST_F(ExportTo, CtfIntoAnEmptyDirectoryLeavesThatOfSomebodyElse) {
  fs::create_directory(path());
  must(opened("ctf")->add(event_of(EventKind::hit, "uprobe:/p:f", 2000)));
  EXPECT_TRUE(fs::is_empty(path()));
}

TEST_F(ExportTo, ChromeKeepsArgumentsBesideWhatHasTheirNames) {
  Event event = event_of(EventKind::hit, "uprobe:/p:f", 2000);
  auto source = std::make_shared<EventSource>(*event.source);
  source->arguments = {argument_of(Argument::Kind::integer, 4, "cpu")};
  event.source = source;
  event.args = {77};
  auto to = opened("chrome");
  must(to->add(event));
  must(to->finish());
  EXPECT_NE(text().find(R"("args":{"argument cpu":77,"cpu":1})"), std::string::npos) << text();
}

TEST_F(ExportTo, CtfTellsLossesWhereTheyWere) {
  auto to = opened("ctf");
  must(to->add(event_of(EventKind::hit, "uprobe:/p:f", 2000)));
  must(to->add(Lost{.ts_ns = 3000, .count = 41, .cause = LossCause::ring_full, .cpu = 1}));
  must(to->add(event_of(EventKind::hit, "uprobe:/p:f", 4000)));
  must(to->add(Lost{.ts_ns = 5000, .count = 1, .cause = LossCause::slow_disk, .cpu = {}}));
  must(to->finish());
  const std::string counts = output_of(
      {"babeltrace2", path(), "--component=sink.utils.counter", "--params=hide-zero=yes"});
  EXPECT_NE(counts.find("2 Event messages"), std::string::npos) << counts;
  EXPECT_NE(counts.find("2 Discarded event messages"), std::string::npos) << counts;
  const std::string details = output_of({"babeltrace2", path(), "--component=sink.text.details",
                                         "--params=color=\"never\",with-metadata=no"});
  EXPECT_NE(details.find("Discarded events (41 events)"), std::string::npos) << details;
  EXPECT_NE(details.find("Discarded events (1 events)"), std::string::npos) << details;
}

TEST_F(ExportTo, CtfWithoutEndLeavesNothing) {
  must(opened("ctf")->add(event_of(EventKind::hit, "uprobe:/p:f", 2000)));
  EXPECT_FALSE(fs::exists(path()));
}

// All begin before the first ends, so each would have a track of its own.
TEST_F(ExportTo, PerfettoHasNotTracksWithoutEnd) {
  auto to = opened("perfetto");
  Event event = event_of(EventKind::latency, "usdt:/usr/bin/prog:b:c", 0);
  for (uint64_t i = 0; i < 20'000; ++i) {
    event.ts_ns = 100'000 + i;
    event.duration_ns = 50'000 + i;
    ASSERT_TRUE(to->add(event));
  }
  ASSERT_TRUE(to->finish());
  const std::string bytes = text();
  size_t tracks = 0;
  for (size_t at = 0; (at = bytes.find("until b:c", at)) != std::string::npos; ++at) ++tracks;
  EXPECT_EQ(tracks, 1 << 14);
}

TEST_F(ExportTo, CsvQuotesWhatItMust) {
  auto to = opened("csv", 8);
  must(to->add(event_of_all_kinds()));
  must(to->add(Lost{.ts_ns = 3000, .count = 41, .cause = LossCause::ring_full, .cpu = 1}));
  must(to->finish());
  EXPECT_EQ(text(),
            "ts,wall,kind,cpu,pid,tid,comm,session,probe,call,depth,duration,retval,retval_is,tag,"
            "stack,lost,cause,"
            "arg0,arg1,arg2,arg3,arg4,arg5,arg6,arg7\n"
            "2000,2023-11-14T22:13:20.000002000Z,hit,1,4711,4711,\"a,\"\"b\"\"\nc\",s,"
            "\"usdt:/opt/a \"\"b\"\"\\c:pro:na-me\",,,,,,tag 1,,,,"
            "-5,18446603336221196288,7,1,1.5,\"x,\"\"y\"\"\nz\xef\xbf\xbd\",,0.25\n"
            "3000,2023-11-14T22:13:20.000003000Z,lost,1,,,,,,,,,,,,,41,ring_full,,,,,,,,\n");
}

// ---- results ----

Event return_of(const Argument& result, Value value) {
  Event event = event_of(EventKind::returned, "uprobe:/p:f", 2000);
  auto source = std::make_shared<EventSource>(*event.source);
  source->result = result;
  event.source = source;
  event.retval = value;
  return event;
}

Event return_of_struct() {
  Argument result = argument_of(Argument::Kind::aggregate, 8, "");
  result.place = Argument::Place::in_register;
  result.is_string = true;
  Event event = return_of(result, 0);
  event.strings = {"{a = 27, b = ?}"};
  return event;
}

// Of `double`, of `void`, of a function of which nothing is known, and of a struct.
std::vector<Event> returns_of_all_kinds() {
  Argument of_double{.is_float = true};
  of_double.text = "double in xmm0";
  return {return_of(of_double, std::nullopt),
          return_of(Argument{.place = Argument::Place::nothing}, std::nullopt),
          return_of(bare_register("rax"), 27), return_of_struct()};
}

TEST_F(ExportTo, ChromeHasOfAResultOnlyWhatIsKnown) {
  auto to = opened("chrome");
  for (const Event& event : returns_of_all_kinds()) must(to->add(event));
  must(to->finish());
  for (const char* args :
       {R"("args":{"result":null,"result_is":"double in xmm0","cpu":1})", R"("args":{"cpu":1})",
        R"("args":{"result":27,"result_is":"rax","cpu":1})",
        R"("args":{"result":"{a = 27, b = ?}","cpu":1})"})
    EXPECT_NE(text().find(args), std::string::npos) << text();
}

TEST_F(ExportTo, CtfHasOfAResultOnlyWhatIsKnown) {
  auto to = opened("ctf");
  for (const Event& event : returns_of_all_kinds()) must(to->add(event));
  must(to->finish());
  const std::string text = output_of({"babeltrace2", path()});
  EXPECT_NE(text.find("{ result_is = \"double in xmm0\" }"), std::string::npos) << text;
  EXPECT_NE(text.find("{ result = 27, result_is = \"rax\" }"), std::string::npos) << text;
  EXPECT_NE(text.find("{ result = \"{a = 27, b = \\?}\" }"), std::string::npos) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 4) << text;
}

TEST_F(ExportTo, CsvHasOfAResultOnlyWhatIsKnown) {
  auto to = opened("csv");
  for (const Event& event : returns_of_all_kinds()) must(to->add(event));
  must(to->finish());
  EXPECT_NE(text().find("uprobe:/p:f,,,,,double in xmm0,"), std::string::npos) << text();
  EXPECT_NE(text().find("uprobe:/p:f,,,,,,"), std::string::npos) << text();
  EXPECT_NE(text().find("uprobe:/p:f,,,,27,rax,"), std::string::npos) << text();
  EXPECT_NE(text().find("uprobe:/p:f,,,,\"{a = 27, b = ?}\",,"), std::string::npos) << text();
}

TEST_F(ExportTo, SlicesHaveOfAResultOnlyWhatIsKnown) {
  std::vector<std::string> results;
  Slices slices([&](const Slice& slice) { return results.push_back(slice.result), ok(); });
  for (Event event : returns_of_all_kinds()) {
    event.duration_ns = 5;
    must(slices.add(event));
  }
  must(slices.finish(9000));
  EXPECT_EQ(results,
            (std::vector<std::string>{"? (double in xmm0)", "", "rax=27", "{a = 27, b = ?}"}));
}

// ---- spans ----

using Spans = std::vector<std::string>;

std::string text_of(const Slice& slice) {
  static constexpr const char* kEnds[] = {"", " unwound", " unseen"};
  return std::string(slice.name) + " " + std::to_string(slice.begin_ns) + "-" +
         std::to_string(slice.end_ns) + kEnds[static_cast<size_t>(slice.end)] +
         (slice.is_crossing ? " crossing" : "");
}

Spans spans_of(const std::vector<Event>& events) {
  Spans spans;
  Slices slices([&](const Slice& slice) { return spans.push_back(text_of(slice)), ok(); });
  for (const Event& event : events) must(slices.add(event));
  must(slices.finish(900));
  return spans;
}

TEST(Slices, AreToldWhenCallsAreOver) {
  EXPECT_EQ(spans_of({begin_of("a", {1, 0}, 100), begin_of("b", {2, 1}, 110),
                      end_of("b", {2, 1}, 120, 10), unwound_of("a", {1, 0}, 130, 30)}),
            (Spans{"b 110-120", "a 100-130 unwound"}));
}

TEST(Slices, WithoutEndGoToTheEnd) {
  EXPECT_EQ(spans_of({begin_of("a", {1, 0}, 100), begin_of("b", {2, 1}, 110)}),
            (Spans{"b 110-900 unseen", "a 100-900 unseen"}));
}

TEST(Slices, WithoutBeginningAreKnownByWhatTheyTook) {
  EXPECT_EQ(spans_of({end_of("a", {7, 0}, 500, 450)}), (Spans{"a 50-500"}));
}

TEST(Slices, WhoseEndWasLostEndAtTheLatestWhenTheCallAroundDoes) {
  EXPECT_EQ(spans_of({begin_of("a", {1, 0}, 100), begin_of("b", {2, 1}, 110),
                      end_of("a", {1, 0}, 130, 30)}),
            (Spans{"b 110-130 unseen", "a 100-130"}));
}

TEST(Slices, OfCoroutinesCross) {
  // b continues after the end of a, in which it began.
  EXPECT_EQ(spans_of({begin_of("a", {1, 0}, 100), begin_of("b", {2, 1}, 110),
                      end_of("a", {1, 1}, 120, 20), end_of("b", {2, 0}, 130, 20)}),
            (Spans{"a 100-120 crossing", "b 110-130"}));
}

TEST(Slices, OfCoroutinesCrossThoughTheirBeginningWasNotSeen) {
  EXPECT_EQ(spans_of({begin_of("b", {2, 1}, 110), end_of("a", {1, 1}, 120, 20),
                      end_of("b", {2, 0}, 130, 20)}),
            (Spans{"a 100-120 crossing", "b 110-130"}));
}

TEST(Slices, DoNotEndBeforeTheyBegin) {
  EXPECT_EQ(spans_of({begin_of("a", {1, 0}, 100), end_of("a", {1, 0}, 90, 5)}),
            (Spans{"a 100-100"}));
}

TEST(Slices, AreMadeOfReturnsAlone) {
  Event event = event_of(EventKind::returned, "uprobe:/p:f", 700);
  event.duration_ns = 50;
  EXPECT_EQ(spans_of({event}), (Spans{"f 650-700"}));
}

TEST(Slices, AreNotMadeOfHits) {
  Slices slices([](const Slice&) { return ok(); });
  EXPECT_FALSE(must(slices.add(event_of(EventKind::hit, "uprobe:/p:f", 700))));
}

// ---- flame graphs ----

TEST(FlameGraph, IsAsWideAsWhatWasCounted) {
  FlameGraph graph([](uint64_t count) { return std::to_string(count) + " hits"; });
  graph.add("main;a 3");
  graph.add("main;b;<c> 1");
  const std::string svg = graph.svg("x & y");
  EXPECT_NE(svg.find("<title>main (4 hits, 100.0 %)</title>"), std::string::npos) << svg;
  EXPECT_NE(svg.find("<title>a (3 hits, 75.0 %)</title><rect x=\"10.00\""), std::string::npos);
  EXPECT_NE(svg.find("width=\"885.00\""), std::string::npos);
  EXPECT_NE(svg.find("<title>&lt;c&gt; (1 hits, 25.0 %)</title><rect x=\"895.00\""),
            std::string::npos);
  EXPECT_NE(svg.find(">x &amp; y<"), std::string::npos);
}

// ---- files ----

TEST_F(ExportTo, AFileIsThereOnceItIsWhole) {
  {
    std::ofstream(path()) << "before";
    auto file = must(OutputFile::open(path()));
    must(file.write("after"));
    EXPECT_EQ(text(), "before");
  }
  EXPECT_EQ(text(), "before");
  auto file = must(OutputFile::open(path()));
  must(file.write("after"));
  must(file.commit());
  EXPECT_EQ(text(), "after");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);
}

TEST_F(ExportTo, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_FALSE(OutputFile::open(directory_ / "nowhere/out"));
  auto full = must(OutputFile::open("/dev/full"));
  must(full.write("text"));
  EXPECT_FALSE(full.commit());
}

}  // namespace
}  // namespace tracectl
