// SPDX-License-Identifier: BSD-2-Clause
//
// The common parts of answers: one byte, 1 and the requested data, or 0 and an error.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "daemon/base/binary.h"
#include "daemon/base/result.h"

namespace tracectl::wire {

// All names and texts are within these bounds; some have narrower ones.
inline constexpr size_t kMostMessageBytes = 256 << 10;  // of an error
inline constexpr binary::Bounds kBounds{
    .items = 2 << 20, .items_of_list = 1 << 20, .text_bytes = 512 << 10};

inline Error untrue() { return Error{Code::invalid, "what was read of it cannot be true"}; }

// Reads the beginning of an answer; none if it is not an error.
std::optional<Error> read_error(binary::Reader& from);

bool is_build_id(const std::string& text);

template <class T> std::string encode_data(const T& data) {
  std::string bytes;
  binary::Writer to(bytes);
  to.write(true);
  to.write(data);
  return bytes;
}

// `is_possible`: whether the data can be true.
template <class T, class Check>
Result<T> decode_data(std::string_view answer, const binary::Bounds& bounds, Check is_possible) {
  binary::Reader from(answer, bounds);
  if (auto error = read_error(from)) return *error;
  T data;
  if (!from.read(data) || !from.at_end() || !is_possible(data)) return untrue();
  return data;
}

}  // namespace tracectl::wire
