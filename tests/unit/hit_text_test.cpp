// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/hit_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace tracectl;
using namespace tracectl::protocol;

namespace {

using Source = std::shared_ptr<const EventSource>;

Argument type(uint8_t size_bytes, bool is_signed, bool is_float) {
  Argument argument;
  argument.size_bytes = size_bytes;
  argument.is_signed = is_signed;
  argument.is_float = is_float;
  return argument;
}

Source source(const std::string& probe, Arguments arguments) {
  return std::make_shared<const EventSource>(EventSource{probe, "a \"session\"", arguments});
}

std::vector<Source> sources() {
  return {source("uprobe:/bin/plain:f", {type(8, false, false), type(8, false, false)}),
          source("uprobe:/bin/small:f", {type(1, true, false), type(2, false, false),
                                         type(4, true, false), type(8, true, false)}),
          source("uprobe:/bin/\"odd\"\n:f", {type(4, false, true), type(8, false, true)}),
          source("uprobe:/bin/untyped:f", {})};
}

PlainHit random_hit(std::mt19937_64& random, const std::vector<Source>& all) {
  constexpr uint64_t kValues[] = {0, 1, 0xff, 0x8000, 0xffff'ffff, 1ull << 63, ~0ull};
  PlainHit hit;
  hit.ts_ns = random() % 8'000'000'000;
  hit.epoch = random() % 2;
  hit.cpu = random() % 2;
  hit.pid = static_cast<pid_t>(1 + random() % 2);
  hit.tid = static_cast<pid_t>(1 + random() % 500);
  hit.comm = RawComm(random() % 2 ? "a\"b\xff" : "sixteen bytes ab");
  hit.source = &all[random() % all.size()];
  hit.readable = random();
  hit.arg_count = random() % 5;
  for (size_t i = 0; i < hit.arg_count; ++i)
    hit.args[i] = random() % 2 ? random() : kValues[random() % std::size(kValues)];
  return hit;
}

PlainHit floats(const Source& of, double wide) {
  PlainHit hit;
  hit.source = &of;
  hit.readable = 3;
  hit.arg_count = 2;
  hit.args[0] = std::bit_cast<uint32_t>(static_cast<float>(wide));
  hit.args[1] = std::bit_cast<uint64_t>(wide);
  return hit;
}

std::string event_text(const PlainHit& hit, WallClock& wall, std::string_view demangled) {
  std::string text;
  append_event(text, event_of(hit), wall, demangled);
  return text;
}

}  // namespace

// Hits of many threads, whose common parts take the place of each other.
TEST(HitText, IsTheTextOfTheEvent) {
  constexpr int64_t kOffsetNs = -3'999'999'999;  // some times are before 1970
  const auto all = sources();
  std::mt19937_64 random(1);
  HitText hits([&](const std::string& probe) { return probe == all[1]->probe ? "f(int)" : ""; });
  WallClock wall{kOffsetNs}, other{kOffsetNs};
  for (int i = 0; i < 20'000; ++i) {
    const PlainHit hit = random_hit(random, all);
    std::string text;
    hits.append(text, hit, wall);
    ASSERT_EQ(text, event_text(hit, other, *hit.source == all[1] ? "f(int)" : ""));
  }
}

TEST(HitText, OfFloatsIsTheTextOfTheEvent) {
  const Source of = sources()[2];
  HitText hits;
  WallClock wall{0};
  for (const double value : {0.0, -1.5, 1e300, 5e-324, -2.2250738585072014e-308, HUGE_VAL,
                             -HUGE_VAL, std::numeric_limits<double>::quiet_NaN()}) {
    std::string text;
    hits.append(text, floats(of, value), wall);
    EXPECT_EQ(text, event_text(floats(of, value), wall, ""));
  }
}
