// SPDX-License-Identifier: BSD-2-Clause
//
// What an expression means, worked out by walking over it with arithmetic that is wide enough for every
// number there is. What a number is worth is kept beside its type only where the language says that the
// type matters.
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

// What an expression is about.
class Facts {
 public:
  virtual ~Facts() = default;

  // All nullopt: it cannot be read.
  virtual std::optional<Number> operand(const Expr& expr) const = 0;
  virtual std::optional<Number> memory(Read read, uint64_t address) const = 0;
  // Of str(), comm and tag.
  virtual std::optional<std::string> string(const Expr& expr) const = 0;
};

// Of an expression that has been checked, an integer. nullopt: something it needs cannot be read, or
// it divides by 0.
std::optional<Number> evaluate(const Expr& expr, const Facts& facts);
// Of a string.
std::optional<std::string> evaluate_string(const Expr& expr, const Facts& facts);

}  // namespace tracectl
