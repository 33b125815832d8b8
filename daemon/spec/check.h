// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/argument.h"
#include "daemon/model/expr.h"
#include "daemon/model/spec.h"

namespace tracectl {

// An integer's type is the range in which its value is known to lie: signed or unsigned with 64
// bits. Strings come from the program (str), from the thread's name (comm), or from a session's
// label (tag); bytes come from the program's memory (hex).
enum class ValueType : uint8_t {
  s64,
  u64,
  f32,  // only the value of an event
  f64,
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

// The kernel has a cgroup's number; it becomes a name when the rows are read: sessions/cgroup_rows.h.
inline bool is_cgroup_name(ValueType type) {
  return type == ValueType::container || type == ValueType::unit;
}

// The kernel has numbers of stacks; they become code when the rows are read: sessions/stack_rows.h.
inline bool is_stack(ValueType type) {
  return type == ValueType::stack || type == ValueType::caller;
}

// One of the session's paths of calls; a number in the kernel.
inline bool is_path(ValueType type) { return type == ValueType::path; }

inline bool is_integer(ValueType type) { return type == ValueType::s64 || type == ValueType::u64; }

inline bool is_float(ValueType type) { return type == ValueType::f32 || type == ValueType::f64; }

// The context in which an expression is checked.
struct CheckAgainst {
  std::string_view text = {};            // that its columns refer to; empty: its canonical text
  const Arguments* arguments = nullptr;  // of a site; null: those of any site
};

// Conditions and the values of aggregates must be integers. Events and keys can also be strings;
// keys can also be the names of cgroups, and stacks.
Result<ValueType> check_integer(const Expr& expr, const CheckAgainst& against);
Result<ValueType> check_value(const Expr& expr, const CheckAgainst& against);
Result<ValueType> check_key(const Expr& expr, const CheckAgainst& against);
// The value of an aggregate of that kind: sums may be of `block`.
Result<ValueType> check_aggregated(const Expr& expr, Aggregate::Kind kind,
                                   const CheckAgainst& against);
// Why an aggregate of blocks cannot be, or not beside the others.
std::optional<std::string> why_not_beside(const Aggregate& one,
                                          const std::vector<Aggregate>& others);

// The type of an expression that has been checked, or of a part of it, except a literal text.
ValueType type_of(const Expr& expr, const Arguments& arguments);

// An integer literal with its sign. `is_unsigned`: it is greater than INT64_MAX.
struct Literal {
  uint64_t bits = 0;
  bool is_unsigned = false;

  bool is_negative() const { return !is_unsigned && static_cast<int64_t>(bits) < 0; }
};

std::optional<Literal> literal_of(const Expr& expr);

}  // namespace tracectl
