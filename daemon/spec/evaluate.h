// SPDX-License-Identifier: BSD-2-Clause
//
// The meaning of an expression, evaluated by a walk over it, in arithmetic that is wide enough for
// every number in the language. A number's value is kept apart from its type, which is used only
// where the language says that it matters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/model/expr.h"

namespace tracectl {

using Wide = __int128;

struct Number {
  Wide value = 0;
  bool is_u64 = false;

  uint64_t bits() const { return static_cast<uint64_t>(value); }
};

// The number that the 64 bits of `value` stand for.
Number wrapped(Wide value, bool is_u64);

// The values that an expression refers to.
class Facts {
 public:
  virtual ~Facts() = default;

  // All return nullopt if the value cannot be read.
  virtual std::optional<Number> operand(const Expr& expr) const = 0;
  virtual std::optional<Number> memory(Read read, uint64_t address) const = 0;
  // For str(), comm and tag.
  virtual std::optional<std::string> string(const Expr& expr) const = 0;
};

// Evaluates a checked expression that is an integer. nullopt: something it needs cannot be read, or
// it divides by 0.
std::optional<Number> evaluate(const Expr& expr, const Facts& facts);
// The same for a string.
std::optional<std::string> evaluate_string(const Expr& expr, const Facts& facts);

}  // namespace tracectl
