// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/binary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <unordered_map>

namespace tracectl {
namespace {

enum class Color : uint8_t { red, green, blue };
constexpr Color last_of(Color) { return Color::blue; }

struct Point {
  int32_t x = 0;
  uint16_t y = 0;

  bool operator==(const Point&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("x", s.x);
    f("y", s.y);
  }
};

using Words = std::vector<std::string>;

struct Everything {
  bool flag = false;
  uint8_t byte = 0;
  int8_t small = 0;
  int64_t far = 0;
  uint64_t size = 0;
  double share = 0;
  Color color = Color::red;
  std::string text;
  std::vector<std::byte> bytes;
  std::optional<Point> maybe;
  std::vector<Point> points;
  std::array<uint64_t, 2> pair{};
  std::map<int32_t, std::string> names;
  std::unordered_map<uint64_t, Point> places;
  Named<bool> named;
  std::variant<std::monostate, int64_t, std::string> either;
  std::shared_ptr<const Words> first, second, none;

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("flag", s.flag);
    f("byte", s.byte);
    f("small", s.small);
    f("far", s.far);
    f("size", s.size);
    f("share", s.share);
    f("color", s.color);
    f("text", s.text);
    f("bytes", s.bytes);
    f("maybe", s.maybe);
    f("points", s.points);
    f("pair", s.pair);
    f("names", s.names);
    f("places", s.places);
    f("named", s.named);
    f("either", s.either);
    f("first", s.first);
    f("second", s.second);
    f("none", s.none);
  }
};

Everything everything() {
  Everything all;
  all.flag = true;
  all.byte = 200;
  all.small = -100;
  all.far = std::numeric_limits<int64_t>::min();
  all.size = std::numeric_limits<uint64_t>::max();
  all.share = -0.5;
  all.color = Color::blue;
  all.text = std::string("a\0b", 3);
  all.bytes = {std::byte{1}, std::byte{255}};
  all.maybe = Point{-70000, 300};
  all.points = {{1, 2}, {3, 4}};
  all.pair = {5, 1 << 20};
  all.names = {{-1, "minus"}, {7, "seven"}};
  all.places = {{9, {9, 9}}, {8, {8, 8}}};
  all.named = {{"yes", true}, {"no", false}};
  all.either = std::string("text");
  all.first = all.second = std::make_shared<const Words>(Words{"one", "two"});
  return all;
}

TEST(Binary, ValuesComeBackAsTheyWere) {
  const auto all = binary::decode<Everything>(binary::encode(everything()));
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->flag);
  EXPECT_EQ(all->byte, 200);
  EXPECT_EQ(all->small, -100);
  EXPECT_EQ(all->far, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(all->size, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(all->share, -0.5);
  EXPECT_EQ(all->color, Color::blue);
  EXPECT_EQ(all->text, everything().text);
  EXPECT_EQ(all->bytes, everything().bytes);
  EXPECT_EQ(all->maybe, everything().maybe);
  EXPECT_EQ(all->points, everything().points);
  EXPECT_EQ(all->pair, everything().pair);
  EXPECT_EQ(all->names, everything().names);
  EXPECT_EQ(all->places, everything().places);
  EXPECT_EQ(all->named, everything().named);
  EXPECT_EQ(all->either, everything().either);
  ASSERT_TRUE(all->first);
  EXPECT_EQ(*all->first, (Words{"one", "two"}));
  EXPECT_EQ(all->first, all->second);
  EXPECT_FALSE(all->none);
}

TEST(Binary, NoPrefixOfAValueIsOne) {
  const std::string whole = binary::encode(everything());
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(binary::decode<Everything>(whole.substr(0, size))) << size;
  EXPECT_FALSE(binary::decode<Everything>(whole + '\0'));
}

// The format, as binary.h describes it.
TEST(Binary, TheFormatIsAsDescribed) {
  using namespace std::string_literals;
  EXPECT_EQ(binary::encode(true), "\1"s);
  EXPECT_EQ(binary::encode(uint8_t{255}), "\xff"s);
  EXPECT_EQ(binary::encode(uint32_t{300}), "\xac\x02"s);
  EXPECT_EQ(binary::encode(int32_t{-1}), "\1"s);
  EXPECT_EQ(binary::encode(int64_t{1}), "\2"s);
  EXPECT_EQ(binary::encode(Color::green), "\1"s);
  EXPECT_EQ(binary::encode(1.0), "\0\0\0\0\0\0\xf0\x3f"s);
  EXPECT_EQ(binary::encode("ab"s), "\2ab"s);
  EXPECT_EQ(binary::encode(std::optional<uint64_t>{}), "\0"s);
  EXPECT_EQ(binary::encode(std::optional<uint64_t>{5}), "\1\5"s);
  EXPECT_EQ(binary::encode(std::vector<uint64_t>{5, 6}), "\2\5\6"s);
  EXPECT_EQ(binary::encode(std::array<uint64_t, 2>{5, 6}), "\5\6"s);
  EXPECT_EQ(binary::encode(std::unordered_map<uint64_t, bool>{{6, true}, {5, false}}),
            "\2\5\0\6\1"s);
  EXPECT_EQ(binary::encode(std::variant<std::monostate, uint64_t>{uint64_t{7}}), "\1\7"s);
  EXPECT_EQ(binary::encode(Point{-1, 2}), "\1\2"s);
  const auto shared = std::make_shared<const Point>(Point{0, 9});
  EXPECT_EQ(binary::encode(std::vector<std::shared_ptr<const Point>>{shared, nullptr, shared}),
            "\3\1\0\x9\0\1"s);
}

template <class T> bool is_read(std::string_view bytes, const binary::Bounds& bounds = {}) {
  return binary::decode<T>(bytes, bounds).has_value();
}

TEST(Binary, NumbersMustFitTheirTypes) {
  EXPECT_TRUE(is_read<uint16_t>(binary::encode(uint32_t{0xffff})));
  EXPECT_FALSE(is_read<uint16_t>(binary::encode(uint32_t{0x10000})));
  EXPECT_TRUE(is_read<int32_t>(binary::encode(int64_t{INT32_MIN})));
  EXPECT_FALSE(is_read<int32_t>(binary::encode(int64_t{INT32_MIN} - 1)));
  EXPECT_FALSE(is_read<bool>("\2"));
}

TEST(Binary, EnumeratorsAndAlternativesMustExist) {
  EXPECT_TRUE(is_read<Color>("\2"));
  EXPECT_FALSE(is_read<Color>("\3"));
  using Either = std::variant<bool, Color>;
  EXPECT_TRUE(is_read<Either>("\1\2"));
  EXPECT_FALSE(is_read<Either>("\2\2"));
}

TEST(Binary, AKeyOccursOnce) {
  using Map = std::map<uint64_t, Color>;
  EXPECT_TRUE(is_read<Map>("\2\5\1\6\1"));
  EXPECT_FALSE(is_read<Map>("\2\5\1\5\1"));
}

TEST(Binary, ASharedObjectMustBeKnownOrNext) {
  using Objects = std::vector<std::shared_ptr<const Color>>;
  EXPECT_TRUE(is_read<Objects>("\2\1\1\1"));
  EXPECT_FALSE(is_read<Objects>("\1\2\1"));
}

TEST(Binary, WhatExceedsTheBoundsIsRefused) {
  const std::string words = binary::encode(Words{"one", "two", "three"});
  EXPECT_TRUE(is_read<Words>(words, {.items = 3, .items_of_list = 3, .text_bytes = 5}));
  EXPECT_FALSE(is_read<Words>(words, {.items = 2}));
  EXPECT_FALSE(is_read<Words>(words, {.items_of_list = 2}));
  EXPECT_FALSE(is_read<Words>(words, {.text_bytes = 4}));
  const std::string lists = binary::encode(std::vector<Words>{{"a"}, {"b"}});
  EXPECT_TRUE(is_read<std::vector<Words>>(lists, {.items = 4}));
  EXPECT_FALSE(is_read<std::vector<Words>>(lists, {.items = 3}));
}

// A list's false number of elements ends the reading at the end of the bytes.
TEST(Binary, AFalseCountAllocatesNothing) {
  using Numbers = std::vector<uint64_t>;
  EXPECT_FALSE(is_read<Numbers>("\xff\xff\x3f", {.items = 1 << 30, .items_of_list = 1 << 30}));
}

struct Nested {
  std::vector<Nested> inner;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("inner", s.inner); }
};

TEST(Binary, ATypeThatContainsItselfIsReadSoDeepOnly) {
  const auto nested = [](unsigned depth) { return std::string(depth - 1, '\1') + '\0'; };
  EXPECT_TRUE(is_read<Nested>(nested(binary::kMostDepth)));
  EXPECT_FALSE(is_read<Nested>(nested(binary::kMostDepth + 1)));
  EXPECT_FALSE(is_read<Nested>(std::string(1 << 20, '\1')));
}

TEST(Binary, AListCanBeWrittenAndReadOneByOne) {
  std::string bytes;
  binary::Writer to(bytes);
  to.write_count(2);
  to.write(std::string("one"));
  to.write(std::string("two"));
  EXPECT_EQ(bytes, binary::encode(Words{"one", "two"}));
  binary::Reader from(bytes);
  EXPECT_EQ(from.read_count(), 2u);
  std::string word;
  EXPECT_TRUE(from.read(word) && from.read(word));
  EXPECT_EQ(word, "two");
  EXPECT_TRUE(from.at_end());
  EXPECT_FALSE(from.read(word));
  EXPECT_FALSE(from.at_end());
}

}  // namespace
}  // namespace tracectl
