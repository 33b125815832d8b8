// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/random_expr.h"

#include <array>
#include <utility>

namespace tracectl {
namespace {

// Values at which signs and sizes change.
constexpr std::array<uint64_t, 16> kEdges = {0,
                                             1,
                                             2,
                                             7,
                                             63,
                                             0x7f,
                                             0x80,
                                             0xff,
                                             0xffff,
                                             0x7fffffff,
                                             0x80000000,
                                             0xffffffff,
                                             0x7fffffffffffffff,
                                             0x8000000000000000,
                                             0xfffffffffffffffe,
                                             0xffffffffffffffff};

bool shifts(Operator op) { return op == Operator::shift_left || op == Operator::shift_right; }

bool divides(Operator op) { return op == Operator::divide || op == Operator::modulo; }

}  // namespace

Expr RandomExpr::integer(unsigned depth) {
  if (depth == 0) return leaf();
  switch (choose_(8)) {
    case 0: return leaf();
    case 1: return unary(depth);
    case 2: return of_strings(depth);
    case 3: return Expr::of_read(static_cast<Read>(choose_(8)), integer(depth - 1));
    default: return binary(depth);
  }
}

Expr RandomExpr::leaf() {
  constexpr std::array kOthers = {Operand::pid, Operand::tid,    Operand::uid,
                                  Operand::cpu, Operand::cgroup, Operand::ts};
  switch (choose_(3)) {
    case 0: return literal();
    case 1: return Expr::of_operand(kOthers[choose_(kOthers.size())]);
    default: return Expr::of_operand(Operand::arg, choose_(arg_count_));
  }
}

Expr RandomExpr::literal() { return Expr::of_integer(kEdges[choose_(kEdges.size())]); }

Expr RandomExpr::unary(unsigned depth) {
  constexpr std::array kUnary = {Operator::logical_not, Operator::bit_not, Operator::negate};
  const Operator op = kUnary[choose_(kUnary.size())];
  Expr child = integer(depth - 1);
  if (op == Operator::negate && child.kind == Expr::Kind::integer) child.number &= INT64_MAX;
  return Expr::of_unary(op, std::move(child));
}

Expr RandomExpr::binary(unsigned depth) {
  auto op = static_cast<Operator>(choose_(static_cast<uint64_t>(Operator::modulo) + 1));
  if (op == Operator::like) op = Operator::equal;
  Expr left = integer(depth - 1), right = integer(depth - 1);
  const bool no_sign = shifts(op) || divides(op);
  while (no_sign && right.kind == Expr::Kind::unary) right = Expr{right.children[0]};
  if (right.kind == Expr::Kind::integer && shifts(op)) right.number &= 63;
  if (right.kind == Expr::Kind::integer && divides(op)) right.number |= 1;
  return Expr::of_binary(op, std::move(left), std::move(right));
}

Expr RandomExpr::of_strings(unsigned depth) {
  constexpr std::array<const char*, 5> kTexts = {"", "a", "ab", "\x01\xff", "na\"me"};
  constexpr std::array<const char*, 5> kGlobs = {"*", "a*", "?[!b]*", "\x01*", "[a-n]a*"};
  constexpr std::array kCompare = {Operator::equal, Operator::not_equal, Operator::like};
  const Operator op = kCompare[choose_(kCompare.size())];
  const auto& texts = op == Operator::like ? kGlobs : kTexts;
  Expr text = Expr::of_text(texts[choose_(texts.size())]);
  constexpr std::array kReads = {Expr::of_str, Expr::of_cstr, Expr::of_libcxx};
  const auto read = kReads[choose_(kReads.size())];
  Expr string =
      choose_(2) ? Expr::of_operand(Operand::comm) : read(integer(depth - 1), 5 + choose_(60), 0);
  if (op != Operator::like && choose_(2)) std::swap(text, string);
  return Expr::of_binary(op, std::move(string), std::move(text));
}

}  // namespace tracectl
