// SPDX-License-Identifier: BSD-2-Clause
//
// Input: bytes of the binary codec. If they are a value, writing it and reading it again gives the same.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "daemon/base/binary.h"

using namespace tracectl;

namespace {

enum class Color { red, green, blue };
constexpr Color last_of(Color) { return Color::blue; }

// All kinds of types.
struct Node {
  bool flag = false;
  uint8_t byte = 0;
  int16_t small = 0;
  int64_t far = 0;
  uint64_t size = 0;
  double share = 0;
  Color color = Color::red;
  std::string text;
  std::vector<std::byte> bytes;
  std::optional<uint32_t> maybe;
  std::array<uint64_t, 3> three{};
  std::map<int32_t, std::string> names;
  std::unordered_map<uint64_t, bool> places;
  std::variant<std::monostate, int64_t, std::string> either;
  std::shared_ptr<const std::string> shared;
  std::vector<Node> inner;

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
    f("three", s.three);
    f("names", s.names);
    f("places", s.places);
    f("either", s.either);
    f("shared", s.shared);
    f("inner", s.inner);
  }
};

constexpr binary::Bounds kBounds{.items = 100, .items_of_list = 50, .text_bytes = 20};

void must(bool promise) {
  if (!promise) std::abort();
}

void check(const Node& node, size_t& items) {
  must(node.color <= Color::blue && node.text.size() <= 20 && node.bytes.size() <= 20);
  must(node.inner.size() <= 50 && node.names.size() <= 50 && node.places.size() <= 50);
  items += node.inner.size() + node.names.size() + node.places.size();
  must(items <= 100);
  for (const Node& one : node.inner) check(one, items);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto node = binary::decode<Node>({reinterpret_cast<const char*>(data), size}, kBounds);
  if (!node) return 0;
  size_t items = 0;
  check(*node, items);
  const std::string written = binary::encode(*node);
  const auto again = binary::decode<Node>(written, kBounds);
  must(again && binary::encode(*again) == written);
  return 0;
}
