// SPDX-License-Identifier: BSD-2-Clause
//
// Random expressions, evaluated twice: compiled and run, and by a walk over them.
#include <gtest/gtest.h>

#include <random>

#include "daemon/spec/compile.h"
#include "daemon/spec/evaluate.h"
#include "daemon/spec/parse.h"
#include "tests/support/machine.h"
#include "tests/support/random_expr.h"

using namespace tracectl;

namespace {

// The values of a hit that expressions refer to.
class HitFacts final : public Facts {
 public:
  explicit HitFacts(const MachineHit& hit) : hit_(hit) {}

  std::optional<Number> operand(const Expr& e) const override {
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

  std::optional<Number> memory(Read read, uint64_t address) const override {
    const std::string name{name_of(read)};
    const auto size_bytes = static_cast<unsigned>(std::stoi(name.substr(1))) / 8;
    auto bits = read_memory(hit_, address, size_bytes, name[0] == 's');
    if (!bits) return std::nullopt;
    return wrapped(*bits, name == "u64");
  }

  std::optional<std::string> string(const Expr& e) const override {
    if (e.kind == Expr::Kind::operand) return hit_.comm;
    auto address = e.text == Expr::kLibcxx ? libcxx(e) : evaluate(e.children[0], *this);
    if (!address) return std::nullopt;
    return read_string(hit_, address->bits(), e.number);
  }

 private:
  // The address of the characters of a std::string of libc++; the string's address is the first
  // part of the sum.
  std::optional<Number> libcxx(const Expr& e) const {
    const auto at = evaluate(e.children[0].children[0].children[0], *this);
    if (!at) return std::nullopt;
    const auto first = read_memory(hit_, at->bits(), 1, false);
    const auto pointer = read_memory(hit_, at->bits() + 16, 8, false);
    if (!first || !pointer) return std::nullopt;
    return Number{*first & 1 ? *pointer : at->bits() + 1, true};
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
  // Values near the limits are as frequent as all others.
  uint64_t bits() {
    const uint64_t any = random_() >> below(64);
    return below(2) ? any : -below(3) ^ (below(2) ? uint64_t{1} << 63 : 0);
  }

  std::mt19937_64 random_;
};

std::optional<uint64_t> bits_of(const std::optional<Number>& number) {
  if (!number) return std::nullopt;
  return number->bits();
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
    const auto meant = evaluate(expr, HitFacts{hit});
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
