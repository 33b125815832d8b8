// SPDX-License-Identifier: BSD-2-Clause
//
// The data of a page, in columns: each is an element whose text is base64 of little-endian numbers or of
// bytes. So no part of a trace can become markup of the page.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/output/output_file.h"

namespace tracectl {

enum class NumberType { u8, u16, u32, f64 };

// The smallest type for all numbers up to this one. Beyond 2^53 numbers lose their last digits.
NumberType number_type_for(uint64_t greatest);

// One element of the page, written piece by piece.
class PageColumn {
 public:
  PageColumn(OutputFile& to, std::string_view name, std::string_view type);
  void add(std::string_view bytes);
  void end();

 private:
  static constexpr size_t kHeldBytes = 3 << 14;  // base64 takes three at a time

  OutputFile& to_;
  std::string held_;
};

class NumberColumn {
 public:
  NumberColumn(OutputFile& to, std::string_view name, NumberType type);
  void add(uint64_t number);
  void end() { column_.end(); }

 private:
  const NumberType type_;
  PageColumn column_;
};

void write_bytes(OutputFile& to, std::string_view name, std::string_view bytes);

// Writes number_of() of each part.
template <class Parts, class NumberOf>
void write_numbers(OutputFile& to, std::string_view name, const Parts& parts, NumberOf number_of) {
  uint64_t greatest = 0;
  for (const auto& part : parts) greatest = std::max<uint64_t>(greatest, number_of(part));
  NumberColumn column(to, name, number_type_for(greatest));
  for (const auto& part : parts) column.add(number_of(part));
  column.end();
}

}  // namespace tracectl
