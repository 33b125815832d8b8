// SPDX-License-Identifier: BSD-2-Clause
//
// Conditions, aggregates and values, compared with the traced program's own results
// (tests/targets/values.cpp).
#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "daemon/base/clock.h"
#include "daemon/base/hex.h"
#include "tests/support/collected.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

constexpr const char* kProbe = "usdt::values:work";

class SpecTest : public KernelTest {
 protected:
  void begin(const std::string& session, const std::string& action, const std::string& when = "") {
    create(session);
    Setting set = setting(kProbe, process(program_.pid()), action);
    if (!when.empty()) set.spec.when = must(parse_condition(when));
    must(engine->drafts().set(session, {std::move(set)}));
    must(engine->commits().commit(session, {}));
  }
  nlohmann::json run() { return parsed(program_.run()); }

  Program program_{"values", {"4", "20000"}};
};

using Conditions = SpecTest;
using Aggregates = SpecTest;
using Rates = SpecTest;
using Values = SpecTest;

// The program supplies the conditions and the expected results.
TEST_F(Conditions, HoldExactlyWhereTheProgramSaysThatTheyDo) {
  Program asked("values", {"0", "0"});
  const auto texts = parsed(asked.run())["holds"];
  std::vector<std::string> conditions;
  for (const auto& [text, none] : texts.items()) conditions.push_back(text);
  for (size_t i = 0; i < conditions.size(); ++i) begin(std::to_string(i), "count", conditions[i]);
  const auto said = run();
  for (size_t i = 0; i < conditions.size(); ++i) {
    const Results results = read(std::to_string(i));
    const uint64_t holds = said["holds"][conditions[i]];
    EXPECT_EQ(sum(results), holds) << conditions[i];
    EXPECT_EQ(results.totals.filtered, said["calls"].get<uint64_t>() - holds) << conditions[i];
    EXPECT_EQ(results.totals.hits, said["calls"].get<uint64_t>()) << conditions[i];
  }
  EXPECT_GE(conditions.size(), 20u);
}

// The first session's condition is decided at once if it consists of terms, the second's by the
// machine.
TEST_F(Conditions, HoldAlikeForTheFirstSessionAtASiteAndTheNext) {
  Program asked("values", {"0", "0"});
  const auto texts = parsed(asked.run())["holds"];
  for (const auto& [condition, none] : texts.items()) {
    Program program("values", {"1", "1000"});
    for (const char* session : {"first", "next"}) {
      create(session);
      Setting set = setting(kProbe, process(program.pid()), "count");
      set.spec.when = must(parse_condition(condition));
      must(engine->drafts().set(session, {std::move(set)}));
      must(engine->commits().commit(session, {}));
    }
    const uint64_t holds = parsed(program.run())["holds"][condition];
    EXPECT_EQ(sum(read("first")), holds) << condition;
    EXPECT_EQ(sum(read("next")), holds) << condition;
    for (const char* session : {"first", "next"}) must(engine->delete_session(session));
  }
}

TEST_F(Aggregates, SumLeastAndGreatestByStringAreTheProgramsOwn) {
  begin("s", "sum(arg0) by str(arg3), min(arg0) by str(arg3), max(arg0) by str(arg3)");
  const auto said = run();
  const Results results = read("s");
  ASSERT_EQ(results.rows.size(), said["by_name"].size());
  for (const auto& [key, row] : results.rows) {
    const auto& truth = said["by_name"][std::get<std::string>(key.by.at(0).value)];
    EXPECT_EQ(row.count, truth[0].get<uint64_t>());
    EXPECT_EQ(static_cast<int64_t>(row.sum), truth[1].get<int64_t>());
    EXPECT_EQ(static_cast<int64_t>(row.min), truth[2].get<int64_t>());
    EXPECT_EQ(static_cast<int64_t>(row.max), truth[3].get<int64_t>());
  }
  EXPECT_EQ(results.totals.dropped_keys, 0u);
}

TEST_F(Aggregates, StringsOfCxxAreThoseOfTheirCharacters) {
  begin("s", "count by cstr(arg6)");
  const auto said = run();
  const Results results = read("s");
  ASSERT_EQ(results.rows.size(), said["by_name"].size());
  for (const auto& [key, row] : results.rows)
    EXPECT_EQ(row.count, said["by_name"][std::get<std::string>(key.by.at(0).value)][0]);
}

// The first byte of a string; for an empty string its terminating 0.
TEST_F(Aggregates, BytesAreKeysAlsoWhereTheyAre0) {
  begin("s", "count by hex(arg3, 1)");
  std::map<std::string, uint64_t> truth, counted;
  const auto said = run();
  for (const auto& [name, row] : said["by_name"].items())
    truth[hex_of(std::string(name.c_str(), 1))] += row[0].get<uint64_t>();
  for (const auto& [key, row] : read("s").rows)
    counted[std::get<std::string>(key.by.at(0).value)] += row.count;
  EXPECT_EQ(counted, truth);
  EXPECT_TRUE(truth.contains("00"));
}

TEST_F(Aggregates, LeastAndGreatestOfUnsignedValuesAreComparedAsSuch) {
  begin("s", "min(arg2), max(arg2)");
  const auto said = run();
  const Results results = read("s");
  ASSERT_EQ(results.rows.size(), 1u);
  const Row& row = results.rows.begin()->second;
  EXPECT_TRUE(row.shape.is_unsigned);
  EXPECT_EQ(row.min, said["least"].get<uint64_t>());
  EXPECT_EQ(row.max, said["most"].get<uint64_t>());
}

TEST_F(Aggregates, AHistogramHasTheProgramsOwnBuckets) {
  begin("s", "hist(arg1)");
  const auto said = run();
  const Results results = read("s");
  ASSERT_EQ(results.rows.size(), 1u);
  const Row& row = results.rows.begin()->second;
  EXPECT_EQ(row.buckets.size(), said["log2"].size());
  for (const auto& [number, count] : row.buckets) {
    const Bucket bucket = bucket_of(row.shape, number);
    const int log = bucket.from_least ? -2 : bucket.low == 0 ? -1 : std::countr_zero(bucket.low);
    EXPECT_EQ(count, said["log2"][std::to_string(log)].get<uint64_t>()) << log;
  }
}

TEST_F(Aggregates, ALinearHistogramCountsWhatIsBelowAndAbove) {
  begin("s", "lhist(arg0, -500, 500, 300)");
  begin("below", "count", "arg0 < -500");
  begin("first", "count", "arg0 >= -500 && arg0 < -200");
  begin("last", "count", "arg0 >= 400 && arg0 < 500");
  begin("above", "count", "arg0 >= 500");
  run();
  const Results results = read("s");
  const auto& buckets = results.rows.begin()->second.buckets;
  EXPECT_EQ(buckets.at(0), sum(read("below")));
  EXPECT_EQ(buckets.at(1), sum(read("first")));
  EXPECT_EQ(buckets.at(4), sum(read("last")));
  EXPECT_EQ(buckets.at(5), sum(read("above")));
  EXPECT_EQ(buckets.size(), 6u);
  EXPECT_EQ(static_cast<int64_t>(bucket_of(results.rows.begin()->second.shape, 4).high), 499);
}

TEST_F(Aggregates, KeysThatCannotBeReadAreARowOfTheirOwn) {
  begin("s", "count by s16(arg5) & 1");
  begin("values", "sum(u32(arg5 + 4))");
  const auto said = run();
  uint64_t missing = 0, all = 0;
  for (const auto& [key, row] : read("s").rows) {
    all += row.count;
    if (std::holds_alternative<std::monostate>(key.by.at(0).value)) missing += row.count;
  }
  EXPECT_EQ(missing, said["unreadable"].get<uint64_t>());
  EXPECT_EQ(all, said["calls"].get<uint64_t>());
  const Row row = read("values").rows.begin()->second;
  EXPECT_EQ(row.unread, said["unreadable"].get<uint64_t>());
  EXPECT_EQ(row.unread + row.count, said["calls"].get<uint64_t>());
}

TEST_F(Aggregates, SeveralKeysAndAggregatesOfOneSpecAreApart) {
  begin("s", "count, count by comm, cpu, hist(arg4) by comm, avg(arg1)");
  const auto said = run();
  std::map<std::string, uint64_t> counts;
  std::set<std::string> threads;
  for (const auto& [key, row] : read("s").rows) {
    counts[key.aggregate + (key.by.empty() ? "" : " by")] += row.count;
    if (key.aggregate == "hist(arg4)") threads.insert(std::get<std::string>(key.by.at(0).value));
  }
  const uint64_t calls = said["calls"];
  EXPECT_EQ(counts,
            (std::map<std::string, uint64_t>{
                {"count", calls}, {"count by", calls}, {"hist(arg4) by", calls}, {"arg1", calls}}));
  EXPECT_EQ(threads, (std::set<std::string>{"values-0", "values-1", "values-2", "values-3"}));
}

TEST_F(Aggregates, ReadingAndZeroingLeavesNothingInTheKernelAndLosesNothing) {
  begin("s", "sum(arg0) by str(arg3)");
  program_.send("go");
  std::map<std::string, std::pair<uint64_t, int64_t>> seen;
  const auto take = [&] {
    for (const auto& [key, row] : read("s", true).rows) {
      auto& [count, sum] = seen[std::get<std::string>(key.by.at(0).value)];
      count += row.count;
      sum += static_cast<int64_t>(row.sum);
    }
  };
  for (int i = 0; i < 20; ++i) take();
  const auto said = parsed(program_.finish());
  take();
  for (const auto& [name, truth] : said["by_name"].items()) {
    EXPECT_EQ(seen[name].first, truth[0].get<uint64_t>()) << name;
    EXPECT_EQ(seen[name].second, truth[1].get<int64_t>()) << name;
  }
  EXPECT_TRUE(read("s").rows.empty());
}

TEST_F(Rates, OneOfSoManyIsTakenAndTheRestIsFiltered) {
  begin("s", "count, sample(8)");
  begin("with_condition", "count, sample(8)", "arg4 < 128");
  begin("truth", "count", "arg4 < 128");
  const uint64_t calls = run()["calls"];
  EXPECT_EQ(sum(read("s")), (calls + 7) / 8);
  EXPECT_EQ(read("s").totals.filtered, calls - (calls + 7) / 8);
  EXPECT_EQ(sum(read("with_condition")), (sum(read("truth")) + 7) / 8);
}

TEST_F(Rates, NoMoreThanTheLimitIsTakenInASecond) {
  begin("s", "count, limit(100)");
  const uint64_t before = boot_ns() / 1'000'000'000;
  const uint64_t calls = run()["calls"];
  const uint64_t seconds = boot_ns() / 1'000'000'000 - before + 1;
  const Results results = read("s");
  EXPECT_GE(sum(results), 100u);
  EXPECT_LE(sum(results), 100 * seconds);
  EXPECT_EQ(results.totals.filtered, calls - sum(results));
}

// Strings and numbers in one record; some of them cannot be read.
TEST_F(Values, OfARecordAreThoseThatWereAskedFor) {
  const auto collected = std::make_shared<Collected>();
  create("s");
  must(engine->streams().subscribe("s", collected));
  must(stage("s", kProbe, process(program_.pid()),
             "event(str(arg3), arg0 * 2, comm, s16(arg5), cpu, str(arg5)), sample(16)"));
  must(engine->commits().commit("s", {}));
  begin("names", "count by str(arg3)");
  const auto said = run();
  must(engine->streams().flush("s"));
  const auto events = collected->events();
  ASSERT_EQ(events.size(), said["calls"].get<uint64_t>() / 16);
  size_t unread = 0;
  for (const Event& event : events) {
    ASSERT_EQ(event.args.size(), 6u);
    EXPECT_TRUE(said["by_name"].contains(event.strings.at(*event.args[0])));
    EXPECT_EQ(static_cast<int64_t>(*event.args[1]) % 2, 0);
    EXPECT_EQ(event.strings.at(*event.args[2]), event.comm);
    EXPECT_EQ(event.args[3].has_value(), event.args[5].has_value());
    EXPECT_EQ(*event.args[4], event.cpu);
    unread += !event.args[3];
  }
  EXPECT_GT(unread, 0u);
  EXPECT_LT(unread, events.size());
}

// Short and long strings, compared with the program's own c_str().
TEST_F(KernelTest, StringsOfLibcxxAreThoseOfTheirCharacters) {
  Program program("libcxx_strings", {"410"});
  const auto collected = std::make_shared<Collected>();
  create("s");
  must(engine->streams().subscribe("s", collected));
  set("s", "usdt::libcxx:work", process(program.pid()),
      "event(cstr(arg0, libcxx), str(arg2), arg1, cstr(arg0, 3, libcxx))");
  create("long");
  Setting when = setting("usdt::libcxx:work", process(program.pid()), "count");
  when.spec.when = must(parse_condition("cstr(arg0, libcxx) =~ \"???????????????????????*\""));
  must(engine->drafts().set("long", {std::move(when)}));
  must(engine->commits().commit("long", {}));
  program.run();
  must(engine->streams().flush("s"));
  const auto events = collected->events();
  ASSERT_EQ(events.size(), 410u);
  for (const Event& event : events) {
    const std::string& string = event.strings.at(event.args.at(0).value());
    EXPECT_EQ(string, event.strings.at(event.args.at(1).value()));
    EXPECT_EQ(string.size(), event.args.at(2));
    EXPECT_EQ(event.strings.at(event.args.at(3).value()), string.substr(0, 3));
  }
  EXPECT_EQ(sum(read("long")), 410u / 41 * (41 - 23));
}

// arg7 is the address of the bytes of arg2; a byte 0 is part of them.
TEST_F(Values, OfBytesAreAllOfThemInTheOrderOfMemory) {
  const auto collected = std::make_shared<Collected>();
  create("s");
  must(engine->streams().subscribe("s", collected));
  must(stage("s", kProbe, process(program_.pid()),
             "event(hex(arg7, 8), arg2, hex(arg7 + 1, 3), hex(arg5, 64), cpu), sample(16)"));
  must(engine->commits().commit("s", {}));
  const uint64_t calls = run()["calls"];
  must(engine->streams().flush("s"));
  const auto events = collected->events();
  ASSERT_EQ(events.size(), calls / 16);
  size_t unread = 0, with_byte_0 = 0;
  for (const Event& event : events) {
    ASSERT_EQ(event.args.size(), 5u);
    const auto bytes = std::bit_cast<std::array<char, 8>>(event.args[1].value());
    const std::string truth = hex_of(std::string_view(bytes.data(), bytes.size()));
    EXPECT_EQ(event.strings.at(*event.args[0]), truth);
    EXPECT_EQ(event.strings.at(*event.args[2]), truth.substr(2, 6));
    EXPECT_TRUE(!event.args[3] || event.strings.at(*event.args[3]).size() == 128);
    EXPECT_EQ(*event.args[4], event.cpu);
    unread += !event.args[3];
    with_byte_0 += std::count(bytes.begin(), bytes.end(), '\0') > 0;
  }
  EXPECT_GT(unread, 0u);
  EXPECT_LT(unread, events.size());
  EXPECT_GT(with_byte_0, 0u);
}

}  // namespace
}  // namespace tracectl::on_kernel
