// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/evaluate.h"

#include "daemon/model/pattern.h"

namespace tracectl {

Number wrapped(Wide value, bool is_u64) {
  const auto bits = static_cast<uint64_t>(value);
  return {is_u64 ? Wide{bits} : Wide{static_cast<int64_t>(bits)}, is_u64};
}

namespace {

Number truth(bool holds) { return {holds, false}; }

Wide product(Wide a, Wide b) {
  // Multiplies as unsigned, because the product may overflow the signed type.
  return static_cast<Wide>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
}

std::optional<Number> compute(Operator op, Wide a, Wide b, bool is_u64) {
  const bool divides = op == Operator::divide || op == Operator::modulo;
  if (divides && b == 0) return std::nullopt;
  switch (op) {
    case Operator::add: return wrapped(a + b, is_u64);
    case Operator::subtract: return wrapped(a - b, is_u64);
    case Operator::divide: return wrapped(a / b, is_u64);
    case Operator::modulo: return wrapped(a % b, is_u64);
    case Operator::bit_and: return wrapped(a & b, is_u64);
    case Operator::bit_or: return wrapped(a | b, is_u64);
    case Operator::bit_xor: return wrapped(a ^ b, is_u64);
    default: return wrapped(product(a, b), is_u64);
  }
}

std::optional<Number> combine(Operator op, Number a, Number b) {
  switch (op) {
    case Operator::logical_and:
    case Operator::logical_or: return truth(b.value != 0);
    case Operator::equal: return truth(a.value == b.value);
    case Operator::not_equal: return truth(a.value != b.value);
    case Operator::less: return truth(a.value < b.value);
    case Operator::less_equal: return truth(a.value <= b.value);
    case Operator::greater: return truth(a.value > b.value);
    case Operator::greater_equal: return truth(a.value >= b.value);
    case Operator::shift_left: return wrapped(a.value << (b.value & 63), a.is_u64);
    case Operator::shift_right: return wrapped(a.value >> (b.value & 63), a.is_u64);
    default: break;
  }
  const bool is_u64 = a.is_u64 || b.is_u64;
  return compute(op, wrapped(a.value, is_u64).value, wrapped(b.value, is_u64).value, is_u64);
}

std::optional<Number> unary(const Expr& expr, const Facts& facts) {
  const Expr& child = expr.children[0];
  // The least integer is written as the negative of an unsigned literal.
  if (expr.op == Operator::negate && child.kind == Expr::Kind::integer)
    return wrapped(-Wide{child.number}, false);
  const auto x = evaluate(child, facts);
  if (!x) return std::nullopt;
  if (expr.op == Operator::logical_not) return truth(x->value == 0);
  return wrapped(expr.op == Operator::negate ? -x->value : ~x->value, x->is_u64);
}

bool is_of_strings(const Expr& expr) {
  return expr.children[0].kind == Expr::Kind::text || expr.children[1].kind == Expr::Kind::text;
}

std::optional<Number> compare_strings(const Expr& expr, const Facts& facts) {
  const auto a = evaluate_string(expr.children[0], facts);
  const auto b = evaluate_string(expr.children[1], facts);
  if (!a || !b) return std::nullopt;
  if (expr.op == Operator::like) return truth(glob_match(*b, *a));
  return truth((*a == *b) == (expr.op == Operator::equal));
}

std::optional<Number> binary(const Expr& expr, const Facts& facts) {
  if (is_of_strings(expr)) return compare_strings(expr, facts);
  const auto a = evaluate(expr.children[0], facts);
  if (!a) return std::nullopt;
  if (expr.op == Operator::logical_and && a->value == 0) return truth(false);
  if (expr.op == Operator::logical_or && a->value != 0) return truth(true);
  const auto b = evaluate(expr.children[1], facts);
  if (!b) return std::nullopt;
  return combine(expr.op, *a, *b);
}

std::optional<Number> read(const Expr& expr, const Facts& facts) {
  const auto address = evaluate(expr.children[0], facts);
  return address ? facts.memory(expr.read, address->bits()) : std::nullopt;
}

}  // namespace

std::optional<Number> evaluate(const Expr& expr, const Facts& facts) {
  switch (expr.kind) {
    case Expr::Kind::integer: return Number{expr.number, expr.number > uint64_t{INT64_MAX}};
    case Expr::Kind::operand: return facts.operand(expr);
    case Expr::Kind::enumerator: return Number{static_cast<int64_t>(expr.number), false};
    case Expr::Kind::field: return evaluate(expr.children[0], facts);
    case Expr::Kind::read: return read(expr, facts);
    case Expr::Kind::unary: return unary(expr, facts);
    case Expr::Kind::binary: return binary(expr, facts);
    default: return std::nullopt;
  }
}

std::optional<std::string> evaluate_string(const Expr& expr, const Facts& facts) {
  return expr.kind == Expr::Kind::text ? std::optional(expr.text) : facts.string(expr);
}

}  // namespace tracectl
