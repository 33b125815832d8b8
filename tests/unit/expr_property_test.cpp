// SPDX-License-Identifier: BSD-2-Clause
//
// Random expressions, evaluated twice: compiled and run, and by walking over them with arithmetic
// that is wide enough for every number there is. What a number is worth is kept beside its type only
// where the language says that the type matters.
#include <gtest/gtest.h>

#include <random>

#include "daemon/model/pattern.h"
#include "daemon/spec/compile.h"
#include "daemon/spec/parse.h"
#include "tests/support/machine.h"
#include "tests/support/random_expr.h"

using namespace tracectl;

namespace {

using Wide = __int128;

struct Number {
  Wide value;
  bool is_u64;
};

// The number that the 64 bits of `value` stand for.
Number wrapped(Wide value, bool is_u64) {
  const auto bits = static_cast<uint64_t>(value);
  return {is_u64 ? Wide{bits} : Wide{static_cast<int64_t>(bits)}, is_u64};
}

Number truth(bool holds) { return {holds, false}; }

class Evaluator {
 public:
  explicit Evaluator(const MachineHit& hit) : hit_(hit) {}

  std::optional<Number> eval(const Expr& e) const {
    switch (e.kind) {
      case Expr::Kind::integer: return Number{e.number, e.number > uint64_t{INT64_MAX}};
      case Expr::Kind::operand: return operand(e);
      case Expr::Kind::read: return read(e);
      case Expr::Kind::unary: return unary(e);
      default: return binary(e);
    }
  }

 private:
  std::optional<Number> operand(const Expr& e) const {
    switch (e.operand) {
      case Operand::pid: return Number{hit_.pid, false};
      case Operand::tid: return Number{hit_.tid, false};
      case Operand::uid: return Number{hit_.uid, false};
      case Operand::cpu: return Number{hit_.cpu, false};
      case Operand::cgroup: return Number{hit_.cgroup, true};
      case Operand::ts: return Number{hit_.ts_ns, true};
      default: break;
    }
    const Argument& argument = hit_.arguments[e.number];
    auto bits = argument_value(hit_, e.number, argument.is_signed);
    if (!bits) return std::nullopt;
    return wrapped(*bits, argument.size_bytes == 8 && !argument.is_signed);
  }

  std::optional<Number> read(const Expr& e) const {
    auto address = eval(e.children[0]);
    if (!address) return std::nullopt;
    const std::string name{name_of(e.read)};
    const auto size_bytes = static_cast<unsigned>(std::stoi(name.substr(1))) / 8;
    auto bits =
        read_memory(hit_, static_cast<uint64_t>(address->value), size_bytes, name[0] == 's');
    if (!bits) return std::nullopt;
    return wrapped(*bits, name == "u64");
  }

  std::optional<Number> unary(const Expr& e) const {
    const Expr& child = e.children[0];
    // The least integer is written as the negative of one that has no sign.
    if (e.op == Operator::negate && child.kind == Expr::Kind::integer)
      return wrapped(-Wide{child.number}, false);
    auto x = eval(child);
    if (!x) return std::nullopt;
    if (e.op == Operator::logical_not) return truth(x->value == 0);
    return wrapped(e.op == Operator::negate ? -x->value : ~x->value, x->is_u64);
  }

  std::optional<Number> binary(const Expr& e) const {
    if (of_strings(e)) return compare_strings(e);
    auto a = eval(e.children[0]);
    if (!a) return std::nullopt;
    if (e.op == Operator::logical_and && a->value == 0) return truth(false);
    if (e.op == Operator::logical_or && a->value != 0) return truth(true);
    auto b = eval(e.children[1]);
    if (!b) return std::nullopt;
    return combine(e.op, *a, *b);
  }

  static std::optional<Number> combine(Operator op, Number a, Number b) {
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

  static std::optional<Number> compute(Operator op, Wide a, Wide b, bool is_u64) {
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
      default: break;
    }
    unsigned __int128 product =
        static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b);
    return wrapped(static_cast<Wide>(product), is_u64);
  }

  static bool of_strings(const Expr& e) {
    return e.children[0].kind == Expr::Kind::text || e.children[1].kind == Expr::Kind::text;
  }

  // Where the characters of a std::string of libc++ are: its address is the first part of the sum.
  std::optional<Number> libcxx(const Expr& e) const {
    const auto at = eval(e.children[0].children[0].children[0]);
    if (!at) return std::nullopt;
    const auto where = static_cast<uint64_t>(at->value);
    const auto first = read_memory(hit_, where, 1, false);
    const auto pointer = read_memory(hit_, where + 16, 8, false);
    if (!first || !pointer) return std::nullopt;
    return Number{*first & 1 ? *pointer : where + 1, true};
  }

  std::optional<std::string> string(const Expr& e) const {
    if (e.kind == Expr::Kind::text) return e.text;
    if (e.kind == Expr::Kind::operand) return hit_.comm;
    auto address = e.text == Expr::kLibcxx ? libcxx(e) : eval(e.children[0]);
    if (!address) return std::nullopt;
    return read_string(hit_, static_cast<uint64_t>(address->value), e.number);
  }

  std::optional<Number> compare_strings(const Expr& e) const {
    auto a = string(e.children[0]), b = string(e.children[1]);
    if (!a || !b) return std::nullopt;
    if (e.op == Operator::like) return truth(glob_match(*b, *a));
    return truth((*a == *b) == (e.op == Operator::equal));
  }

  const MachineHit& hit_;
};

class RandomHit {
 public:
  explicit RandomHit(uint64_t seed) : random_(seed) {}

  uint64_t below(uint64_t bound) { return random_() % bound; }

  MachineHit make() {
    MachineHit hit;
    hit.pid = 1 + static_cast<uint32_t>(below(3));
    hit.tid = static_cast<uint32_t>(bits());
    hit.uid = static_cast<uint32_t>(bits());
    hit.cpu = static_cast<uint32_t>(below(4));
    hit.cgroup = bits();
    hit.ts_ns = bits();
    hit.comm = below(2) ? "name" : "ab";
    for (int i = 0; i < 8; i++) {
      const auto size_bytes = static_cast<uint8_t>(1u << below(4));
      hit.arguments.push_back({.place = Argument::Place::in_register,
                               .size_bytes = size_bytes,
                               .is_signed = below(2) == 0});
      hit.values.push_back(below(16) ? std::optional{bits()} : std::nullopt);
    }
    for (int i = 0; i < 512; i++) hit.memory += static_cast<char>(below(4) ? bits() : 'a');
    return hit;
  }

 private:
  // Near the edges as often as anywhere.
  uint64_t bits() {
    const uint64_t any = random_() >> below(64);
    return below(2) ? any : -below(3) ^ (below(2) ? uint64_t{1} << 63 : 0);
  }

  std::mt19937_64 random_;
};

std::optional<uint64_t> bits_of(const std::optional<Number>& number) {
  if (!number) return std::nullopt;
  return static_cast<uint64_t>(number->value);
}

}  // namespace

TEST(ExprProperty, CompiledCodeGivesWhatTheExpressionMeans) {
  size_t compared = 0, failed = 0;
  for (uint64_t seed = 0; seed < 40000; seed++) {
    RandomHit random{seed};
    const MachineHit hit = random.make();
    RandomExpr exprs{[&](uint64_t bound) { return random.below(bound); }, hit.arguments.size()};
    const Expr expr = exprs.integer(static_cast<unsigned>(1 + seed % 5));
    auto value = compile_value(expr, hit.arguments);
    auto condition = compile_condition(expr, hit.arguments);
    if (!value || !condition) {
      const std::string& why = (value ? condition : value).error().message;
      ASSERT_NE(why.find("too long"), why.npos) << to_string(expr) << ": " << why;
      continue;
    }
    const auto meant = Evaluator{hit}.eval(expr);
    const auto ran = run(*value, hit), decided = run(*condition, hit);
    ASSERT_EQ(ran.value, bits_of(meant)) << to_string(expr) << " seed " << seed;
    ASSERT_EQ(decided.value, meant ? std::optional<uint64_t>{meant->value != 0} : std::nullopt)
        << to_string(expr) << " seed " << seed;
    ASSERT_LE(ran.executed, cost_bound(*value));
    ASSERT_LE(decided.executed, cost_bound(*condition));
    ASSERT_EQ(value->type == ValueType::u64,
              meant.value_or(Number{0, value->type == ValueType::u64}).is_u64)
        << to_string(expr);
    compared++;
    failed += !meant;
  }
  EXPECT_GT(compared, 30000u);
  EXPECT_GT(compared - failed, 15000u);
}

TEST(ExprProperty, CanonicalTextReadsBackAsTheSameExpression) {
  for (uint64_t seed = 0; seed < 10000; seed++) {
    RandomHit random{seed};
    RandomExpr exprs{[&](uint64_t bound) { return random.below(bound); }, 8};
    const Expr expr = exprs.integer(static_cast<unsigned>(1 + seed % 6));
    const std::string text = to_string(expr);
    auto again = parse_condition(text);
    ASSERT_TRUE(again) << text << ": " << again.error().message;
    ASSERT_EQ(*again, expr) << text;
    ASSERT_EQ(to_string(*again), text);
  }
}
