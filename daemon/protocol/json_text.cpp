// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/json_text.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace tracectl::protocol {
namespace {

// Bytes that stand for themselves in a JSON string.
constexpr std::array<bool, 256> make_plain() {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; c++) plain[c] = c != '"' && c != '\\';
  return plain;
}
constexpr auto kPlain = make_plain();

// Whether eight bytes are all plain. Bit 7 of each byte of the sum is set if that byte is outside of ASCII, below
// a space, a quote or a backslash. A borrow can make a plain byte look special only next to a special one, so the
// answer for all eight is exact.
bool all_plain(const char* eight) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  uint64_t word;
  std::memcpy(&word, eight, sizeof word);
  uint64_t quote = word ^ kOnes * '"';
  uint64_t backslash = word ^ kOnes * '\\';
  uint64_t special = word | (word - kOnes * 0x20) | (quote - kOnes) | (backslash - kOnes);
  return (special & kOnes * 0x80) == 0;
}

// The end of the plain bytes that begin at `at`.
size_t end_of_plain(std::string_view text, size_t at) {
  while (text.size() - at >= 8 && all_plain(text.data() + at)) at += 8;
  while (at < text.size() && kPlain[static_cast<uint8_t>(text[at])]) at++;
  return at;
}

uint8_t byte_at(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

// The lowest and highest second byte that may follow a first one: no overlong forms, no surrogates,
// nothing above U+10FFFF (Unicode, table 3-7).
struct Lead {
  size_t size = 0;  // of the sequence; 0 if the byte begins none
  uint8_t low = 0x80, high = 0xbf;
};

constexpr Lead lead_of(uint8_t c) {
  if (c >= 0xc2 && c <= 0xdf) return {2};
  if (c == 0xe0) return {3, 0xa0, 0xbf};
  if (c == 0xed) return {3, 0x80, 0x9f};
  if (c >= 0xe1 && c <= 0xef) return {3};
  if (c == 0xf0) return {4, 0x90, 0xbf};
  if (c >= 0xf1 && c <= 0xf3) return {4};
  if (c == 0xf4) return {4, 0x80, 0x8f};
  return {};
}

// The number of bytes of the character outside of ASCII at `at`; 0 if it is not valid.
size_t sequence_size(std::string_view text, size_t at) {
  Lead lead = lead_of(byte_at(text, at));
  if (lead.size == 0 || text.size() - at < lead.size) return 0;
  if (byte_at(text, at + 1) < lead.low || byte_at(text, at + 1) > lead.high) return 0;
  for (size_t i = 2; i < lead.size; i++) {
    if ((byte_at(text, at + i) & 0xc0) != 0x80) return 0;
  }
  return lead.size;
}

void append_escape(std::string& out, uint8_t c) {
  constexpr const char* kHex = "0123456789abcdef";
  if (c == '"' || c == '\\') {
    out += '\\';
    out += static_cast<char>(c);
    return;
  }
  out += "\\u00";
  out += kHex[c >> 4];
  out += kHex[c & 15];
}

// Appends the bytes at `at`, which are not plain; returns how many bytes of the text that were.
size_t append_special(std::string& out, std::string_view text, size_t at) {
  uint8_t c = byte_at(text, at);
  if (c < 0x80) {
    append_escape(out, c);
    return 1;
  }
  size_t size = sequence_size(text, at);
  out.append(size ? text.substr(at, size) : std::string_view{"\xef\xbf\xbd"});
  return size ? size : 1;
}

}  // namespace

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    size_t end = end_of_plain(text, at);
    out.append(text, at, end - at);
    at = end < text.size() ? end + append_special(out, text, end) : end;
  }
  out += '"';
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  for (size_t at = 0; at < text.size();) {
    const size_t size = byte_at(text, at) < 0x80 ? 1 : sequence_size(text, at);
    valid += size ? text.substr(at, size) : "\xef\xbf\xbd";
    at += size ? size : 1;
  }
  return valid;
}

void append_float(std::string& out, std::floating_point auto value) {
  if (std::isnan(value))
    out += "\"NaN\"";
  else if (std::isinf(value))
    out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  else {
    char digits[32];
    auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out.append(digits, end);
  }
}

template void append_float(std::string&, float);
template void append_float(std::string&, double);

}  // namespace tracectl::protocol
