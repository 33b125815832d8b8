// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/model/argument.h"
#include "daemon/model/expr.h"

namespace tracectl {

// An integer's type says what range its value is known to lie in: that of a signed or an unsigned
// integer of 64 bits. Strings are the program's (str), the name of the thread (comm),
// or what a session has labelled it with (tag); bytes are of the program's memory (hex).
enum class ValueType : uint8_t {
  s64,
  u64,
  string,
  comm,
  tag,
  bytes,
  container,
  unit,
  stack,
  caller,
  path
};

// A cgroup to the kernel, and a name once its rows are read: trace/cgroup_rows.h.
inline bool is_cgroup_name(ValueType type) {
  return type == ValueType::container || type == ValueType::unit;
}

// Numbers to the kernel, and code once the rows are read: trace/stack_rows.h.
inline bool is_stack(ValueType type) {
  return type == ValueType::stack || type == ValueType::caller;
}

// Of the session's paths of calls; a number.
inline bool is_path(ValueType type) { return type == ValueType::path; }

inline bool is_integer(ValueType type) { return type == ValueType::s64 || type == ValueType::u64; }

// What an expression may be checked against.
struct CheckAgainst {
  std::string_view text = {};            // where its columns are; empty: its canonical text
  const Arguments* arguments = nullptr;  // of a site; none: whatever a site has
};

// Conditions, and what is summed up, must be integers; events and keys take strings too, and keys the
// names of cgroups, and stacks.
Result<ValueType> check_integer(const Expr& expr, const CheckAgainst& against);
Result<ValueType> check_value(const Expr& expr, const CheckAgainst& against);
Result<ValueType> check_key(const Expr& expr, const CheckAgainst& against);

// The type of an expression that has been checked, or of a part of it that is no literal text.
ValueType type_of(const Expr& expr, const Arguments& arguments);

// An integer that stands in the text, with its sign. `is_unsigned`: it is beyond INT64_MAX.
struct Literal {
  uint64_t bits = 0;
  bool is_unsigned = false;

  bool is_negative() const { return !is_unsigned && static_cast<int64_t>(bits) < 0; }
};

std::optional<Literal> literal_of(const Expr& expr);

}  // namespace tracectl
