// SPDX-License-Identifier: BSD-2-Clause
#include "client/page/page_columns.h"

#include <bit>
#include <cstring>

namespace tracectl {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void append_group(std::string& to, std::string_view bytes) {
  const auto byte = [&](size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
  };
  const unsigned bits = byte(0) << 16 | byte(1) << 8 | byte(2);
  for (size_t i = 0; i < 4; ++i) to += i <= bytes.size() ? kBase64[bits >> (18 - 6 * i) & 63] : '=';
}

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() / 3 * 4 + 4);
  for (size_t i = 0; i < bytes.size(); i += 3) append_group(text, bytes.substr(i, 3));
  return text;
}

std::string_view name_of(NumberType type) {
  switch (type) {
    case NumberType::u8: return "u8";
    case NumberType::u16: return "u16";
    case NumberType::u32: return "u32";
    case NumberType::f64: break;
  }
  return "f64";
}

// Little endian, because the machine is, as the BPF programs require.
template <class Number> void add_as(PageColumn& column, Number number) {
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  column.add({bytes, sizeof(bytes)});
}

}  // namespace

NumberType number_type_for(uint64_t greatest) {
  if (greatest <= UINT8_MAX) return NumberType::u8;
  if (greatest <= UINT16_MAX) return NumberType::u16;
  return greatest <= UINT32_MAX ? NumberType::u32 : NumberType::f64;
}

// A script element of an unknown language, which browsers keep as text.
PageColumn::PageColumn(OutputFile& to, std::string_view name, std::string_view type) : to_(to) {
  to_.write("<script type=\"text/plain\" id=\"column-");
  to_.write(name);
  to_.write("\" data-type=\"");
  to_.write(type);
  to_.write("\">");
}

void PageColumn::add(std::string_view bytes) {
  held_ += bytes;
  if (held_.size() < kHeldBytes) return;
  const size_t whole = held_.size() / 3 * 3;
  to_.write(base64(std::string_view(held_).substr(0, whole)));
  held_.erase(0, whole);
}

void PageColumn::end() {
  to_.write(base64(held_));
  to_.write("</script>\n");
}

NumberColumn::NumberColumn(OutputFile& to, std::string_view name, NumberType type)
    : type_(type), column_(to, name, name_of(type)) {}

void NumberColumn::add(uint64_t number) {
  switch (type_) {
    case NumberType::u8: return add_as(column_, static_cast<uint8_t>(number));
    case NumberType::u16: return add_as(column_, static_cast<uint16_t>(number));
    case NumberType::u32: return add_as(column_, static_cast<uint32_t>(number));
    case NumberType::f64: return add_as(column_, static_cast<double>(number));
  }
}

void write_bytes(OutputFile& to, std::string_view name, std::string_view bytes) {
  PageColumn column(to, name, "u8");
  column.add(bytes);
  column.end();
}

}  // namespace tracectl
