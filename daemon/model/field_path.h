// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl {

// The way from an argument or a result to a field, as expressions write it: `arg.req->uri.len`,
// `arg0[3].name`, `*retval`. `*X` is `X[0]`, and applies after all that follows X.
struct FieldPath {
  struct Step {
    enum class Kind : uint8_t { arrow, dot, index };
    Kind kind = Kind::dot;
    std::string name = {};  // arrow and dot
    uint64_t index = 0;     // index
    size_t column = 0;      // of the step in the path's text
  };

  static constexpr size_t kMostSteps = 16;
  static constexpr uint64_t kMostIndex = 1 << 30;

  std::string text;         // the whole path
  std::string base;         // `arg.req`, `arg0` or `retval`
  std::vector<Step> steps;  // at least one
};

// The fields that the arguments and results of a file's functions get.
struct FieldsAsked {
  std::vector<std::string> paths = {};  // those that begin with the argument or result
  uint32_t levels = 0;  // all fields of what an argument leads to, so many levels deep; 0: none
};
inline constexpr uint32_t kMostFieldLevels = 4;
inline constexpr size_t kMostListedFields = 500;  // of an argument

// Fails if it has too many steps, or is no path. The spot is in `text`.
Result<FieldPath> parse_field_path(std::string_view text);

// The end of the steps `->NAME`, `.NAME` and `[NUMBER]` that begin at `at`, or `at` if there are none.
size_t end_of_steps(std::string_view text, size_t at);

// The end of the argument or result that `text` begins with, or 0.
size_t end_of_path_base(std::string_view text);

}  // namespace tracectl
