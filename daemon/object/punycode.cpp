// SPDX-License-Identifier: BSD-2-Clause
//
// RFC 3492, section 6.2.
#include "daemon/object/punycode.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tracectl {
namespace {

constexpr uint32_t kPunycodeBase = 36, kLowestLimit = 1, kHighestLimit = 26, kSkew = 38,
                   kDamp = 700;
constexpr uint32_t kFirstBias = 72, kFirstPoint = 0x80, kLastPoint = 0x10ffff;
constexpr size_t kMostPoints = 128;

std::optional<uint32_t> digit_of(char c) {
  if (c >= 'a' && c <= 'z') return static_cast<uint32_t>(c - 'a');
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0') + 26;
  return std::nullopt;
}

uint32_t adapted_bias(uint32_t delta, uint32_t points, bool is_first) {
  delta /= is_first ? kDamp : 2;
  delta += delta / points;
  uint32_t steps = 0;
  for (; delta > (kPunycodeBase - kLowestLimit) * kHighestLimit / 2; steps += kPunycodeBase)
    delta /= kPunycodeBase - kLowestLimit;
  return steps + (kPunycodeBase - kLowestLimit + 1) * delta / (delta + kSkew);
}

// A number whose digits weigh more the further they are to the right. Takes its digits from `encoded`.
std::optional<uint32_t> take_number(std::string_view& encoded, uint32_t bias) {
  constexpr uint64_t kLargest = uint64_t{kLastPoint} * (kMostPoints + 1);
  uint64_t number = 0, weight = 1;
  for (uint32_t k = kPunycodeBase;; k += kPunycodeBase) {
    const auto digit = encoded.empty() ? std::nullopt : digit_of(encoded.front());
    if (!digit) return std::nullopt;
    encoded.remove_prefix(1);
    number += *digit * weight;
    if (number > kLargest) return std::nullopt;
    const uint32_t limit = k <= bias                   ? kLowestLimit
                           : k >= bias + kHighestLimit ? kHighestLimit
                                                       : k - bias;
    if (*digit < limit) return static_cast<uint32_t>(number);
    weight = std::min(weight * (kPunycodeBase - limit), kLargest + 1);
  }
}

// Neither half of a pair nor something that a terminal obeys instead of showing it: a control, or a change of direction.
bool is_character(uint32_t point) {
  const auto within = [point](uint32_t first, uint32_t last) {
    return point >= first && point <= last;
  };
  return point <= kLastPoint && !within(0xd800, 0xdfff) && !within(0x80, 0x9f) &&
         !within(0x202a, 0x202e) && !within(0x2066, 0x2069);
}

void append_utf8(std::string& to, uint32_t point) {
  const auto add = [&](uint32_t byte) { to += static_cast<char>(byte); };
  const auto add_rest = [&](int bits) { add(0x80 | (point >> bits & 0x3f)); };
  if (point < 0x80) return add(point);
  if (point < 0x800) return add(0xc0 | point >> 6), add_rest(0);
  if (point < 0x10000) return add(0xe0 | point >> 12), add_rest(6), add_rest(0);
  add(0xf0 | point >> 18), add_rest(12), add_rest(6), add_rest(0);
}

}  // namespace

std::optional<std::string> decode_punycode(std::string_view encoded) {
  std::vector<uint32_t> points;
  if (const size_t delimiter = encoded.rfind('_'); delimiter != encoded.npos) {
    for (const char c : encoded.substr(0, delimiter)) points.push_back(static_cast<uint8_t>(c));
    encoded.remove_prefix(delimiter + 1);
  }
  if (encoded.empty()) return std::nullopt;
  uint32_t point = kFirstPoint, at = 0, bias = kFirstBias;
  for (bool is_first = true; !encoded.empty(); is_first = false) {
    const auto delta = take_number(encoded, bias);
    const auto count = static_cast<uint32_t>(points.size()) + 1;
    if (!delta || count > kMostPoints) return std::nullopt;
    bias = adapted_bias(*delta, count, is_first);
    at += *delta;
    point += at / count;
    at %= count;
    if (!is_character(point)) return std::nullopt;
    points.insert(points.begin() + at++, point);
  }
  std::string text;
  for (const uint32_t one : points) append_utf8(text, one);
  return text;
}

}  // namespace tracectl
