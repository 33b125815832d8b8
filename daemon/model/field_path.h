// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl {

// The way from an argument, a result or a variable to a field, as expressions write it: `arg.req->uri.len`,
// `arg0[3].name`, `*retval`, `((struct conn *)arg0)->fd`, `var.conn->fd`. `*X` is `X[0]`, and applies after all that
// follows X; so does a cast. A variable alone is a path too.
struct FieldPath {
  struct Step {
    enum class Kind : uint8_t { arrow, dot, index, cast };
    Kind kind = Kind::dot;
    std::string name = {};  // arrow and dot; cast: of the type, `struct conn`, `ns::Type`
    uint64_t index = 0;     // index; cast: how many * follow the type, at least 1
    size_t column = 0;      // of the step in the path's text
    // What it applies to, in the path's text.
    size_t operand_start = 0, operand_end = 0;
  };

  static constexpr size_t kMostSteps = 16;
  static constexpr uint64_t kMostIndex = 1 << 30;

  std::string text;         // the whole path, in its canonical form
  std::string base;         // `arg.req`, `arg0`, `retval` or `var.conn`
  std::vector<Step> steps;  // at least one, unless it is of parse_place()
};

// A variable at a line of source: `var.NAME`.
inline constexpr std::string_view kVariable = "var.";
inline bool is_variable(const FieldPath& path) { return path.base.starts_with(kVariable); }

// The fields that the arguments and results of a file's functions get, and the variables of lines.
struct FieldsAsked {
  std::vector<std::string> paths = {};  // those that begin with the argument, result or variable
  uint32_t levels = 0;  // all fields of what an argument leads to, so many levels deep; 0: none
};
inline constexpr uint32_t kMostFieldLevels = 4;
inline constexpr size_t kMostListedFields = 500;  // of an argument

// Fails if it has too many steps, or is no path. The spot is in `text`.
Result<FieldPath> parse_field_path(std::string_view text);
// The same, or an argument, a result or a variable alone.
Result<FieldPath> parse_place(std::string_view text);

// The end of the steps `->NAME`, `.NAME` and `[NUMBER]` that begin at `at`, or `at` if there are none.
size_t end_of_steps(std::string_view text, size_t at);

// The end of the argument, result or variable that `text` begins with, or 0.
size_t end_of_path_base(std::string_view text);

// The end of a path that begins with a parenthesis at `at`: `(struct conn *)arg0`, `((struct conn *)arg0)->fd`,
// `(*arg.p)->fd`; or `at` if there is none.
size_t end_of_cast_path(std::string_view text, size_t at);
// Whether a type for a cast, in parentheses, begins there.
bool is_cast(std::string_view text, size_t at);

}  // namespace tracectl
