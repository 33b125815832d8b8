// SPDX-License-Identifier: BSD-2-Clause
#include "client/options/size.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace tracectl {
namespace {

std::optional<unsigned> shift_of(std::string_view unit) {
  if (unit.empty()) return 0;
  if (unit == "K") return 10;
  if (unit == "M") return 20;
  if (unit == "G") return 30;
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> parse_size(const std::string& text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{}) return std::nullopt;
  const auto shift = shift_of({rest, end});
  if (!shift || number > std::numeric_limits<uint64_t>::max() >> *shift) return std::nullopt;
  return number << *shift;
}

std::string check_size(const std::string& text, uint64_t least_bytes) {
  const auto bytes = parse_size(text);
  if (!bytes) return "a size is wanted, as 500K, 64M or 1G, not " + text;
  if (*bytes < least_bytes) return text + " is too little: " + size_text(least_bytes) + " at least";
  return "";
}

std::string size_text(uint64_t bytes) {
  if (bytes < 1 << 10) return fmt::format("{} B", bytes);
  if (bytes < 1 << 20) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / (1 << 10));
  if (bytes < 1 << 30) return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30));
}

}  // namespace tracectl
