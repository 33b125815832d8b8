// SPDX-License-Identifier: BSD-2-Clause
//
// An expression is compiled in one walk, in one of two ways. As a *value* it yields a source: a
// register, or something that an instruction can load itself, so `arg0 + 5` is one instruction. As
// a *condition* it yields only skips to a label, which are taken if it holds or if it does not, so
// `arg0 > 5 && pid == 7` is two instructions and evaluates no more than it must.
//
// Registers are used as a stack: an expression may use those from a given number on.
#include "daemon/spec/compile.h"

#include <string>
#include <utility>

#include "daemon/spec/emitter.h"
#include "daemon/spec/lexer.h"

namespace tracectl {
namespace {

using Kind = Expr::Kind;

static_assert(TC_STR_SIZED > TC_STR_LEN && TC_STR_LEN < 1 << (64 - TC_ADDRESS_BITS));
static_assert(Expr::kMostTextBytes == TC_TEXT_LEN && Expr::kMostStrBytes == TC_STR_LEN);

static_assert(Expr::kSignedResult == TC_RETVAL_SIGNED);
constexpr uint64_t kWholeResult = sizeof(uint64_t);

constexpr Source kMinusOne{TC_FROM_IMMEDIATE, 0, -1};
constexpr Source kZero{TC_FROM_IMMEDIATE, 0, 0};
constexpr Source kOne{TC_FROM_IMMEDIATE, 0, 1};

Source in_register(uint8_t number) { return {TC_FROM_REGISTER, number, 0}; }

Source immediate(uint64_t bits) { return {TC_FROM_IMMEDIATE, 0, static_cast<int64_t>(bits)}; }

bool commutes(Operator op) {
  return op == Operator::add || op == Operator::multiply || op == Operator::bit_and ||
         op == Operator::bit_or || op == Operator::bit_xor;
}

tc_op arithmetic(Operator op, bool is_unsigned) {
  switch (op) {
    case Operator::add: return TC_OP_ADD;
    case Operator::subtract: return TC_OP_SUB;
    case Operator::multiply: return TC_OP_MUL;
    case Operator::divide: return is_unsigned ? TC_OP_DIV_U : TC_OP_DIV_S;
    case Operator::modulo: return is_unsigned ? TC_OP_MOD_U : TC_OP_MOD_S;
    case Operator::bit_and: return TC_OP_AND;
    case Operator::bit_or: return TC_OP_OR;
    case Operator::bit_xor: return TC_OP_XOR;
    case Operator::shift_left: return TC_OP_SHL;
    default: return is_unsigned ? TC_OP_SHR_U : TC_OP_SHR_S;
  }
}

tc_op read_op(Read read) {
  switch (read) {
    case Read::s8: return TC_OP_READ_S8;
    case Read::u8: return TC_OP_READ_U8;
    case Read::s16: return TC_OP_READ_S16;
    case Read::u16: return TC_OP_READ_U16;
    case Read::s32: return TC_OP_READ_S32;
    case Read::u32: return TC_OP_READ_U32;
    case Read::s64:
    case Read::u64: return TC_OP_READ_U64;
  }
  return TC_OP_READ_U64;
}

tc_source source_of(Operand operand) {
  switch (operand) {
    case Operand::pid: return TC_FROM_PID;
    case Operand::tid: return TC_FROM_TID;
    case Operand::uid: return TC_FROM_UID;
    case Operand::cpu: return TC_FROM_CPU;
    case Operand::container:
    case Operand::unit:
    case Operand::cgroup: return TC_FROM_CGROUP;
    case Operand::stack_bytes: return TC_FROM_STACK_BYTES;
    case Operand::retval: return TC_FROM_RETVAL;
    case Operand::duration: return TC_FROM_DURATION;
    case Operand::thrown: return TC_FROM_THROWN;
    case Operand::blocked: return TC_FROM_BLOCKED;
    case Operand::runnable: return TC_FROM_RUNNABLE;
    case Operand::block: return TC_FROM_BLOCK;
    default: return TC_FROM_TS;
  }
}

// The operator for exchanged sides: a < b is b > a.
Operator mirrored(Operator op) {
  switch (op) {
    case Operator::less: return Operator::greater;
    case Operator::less_equal: return Operator::greater_equal;
    case Operator::greater: return Operator::less;
    case Operator::greater_equal: return Operator::less_equal;
    default: return op;
  }
}

// The negation. There is no operator for "is not like".
Operator inverse(Operator op) {
  switch (op) {
    case Operator::equal: return Operator::not_equal;
    case Operator::not_equal: return Operator::equal;
    case Operator::less: return Operator::greater_equal;
    case Operator::less_equal: return Operator::greater;
    case Operator::greater: return Operator::less_equal;
    default: return Operator::less;
  }
}

uint8_t relations(Operator op) {
  switch (op) {
    case Operator::equal: return TC_EQUAL;
    case Operator::not_equal: return TC_LESS | TC_GREATER;
    case Operator::less: return TC_LESS;
    case Operator::less_equal: return TC_LESS | TC_EQUAL;
    case Operator::greater: return TC_GREATER;
    default: return TC_GREATER | TC_EQUAL;
  }
}

tc_text_of text_of_string(const Expr& string) {
  if (string.kind == Kind::str) return TC_TEXT_USER;
  return string.operand == Operand::tag ? TC_TEXT_TAG : TC_TEXT_COMM;
}

tc_op text_comparison(Operator op, bool holds) {
  if (op == Operator::like)
    return holds ? TC_OP_SKIP_UNLESS_TEXT_LIKE : TC_OP_SKIP_UNLESS_TEXT_UNLIKE;
  return (op == Operator::equal) == holds ? TC_OP_SKIP_UNLESS_TEXT_EQ : TC_OP_SKIP_UNLESS_TEXT_NE;
}

class Compiler {
 public:
  explicit Compiler(const Arguments& arguments) : arguments_(arguments) {}

  Result<ExprCode> condition(const Expr& expr) {
    Label no;
    skip_if(expr, false, no, 0);
    out_.op(TC_OP_RETURN, 0, kOne);
    if (!no.empty()) {
      out_.bind(no);
      out_.op(TC_OP_RETURN, 0, kZero);
    }
    return code(expr, {});
  }

  Result<ExprCode> value(const Expr& expr) {
    ExprCode as{.insns = {}, .texts = {}, .type = type(expr)};
    Source result = kZero;
    if (is_integer(as.type) || is_float(as.type) || is_cgroup_name(as.type))
      result = value(expr, 0);
    if (as.type == ValueType::stack) as.most_frames = static_cast<uint8_t>(expr.number);
    if (as.type == ValueType::caller) as.most_frames = 1;
    const Expr& memory = loads_of_text(expr);
    if (memory.kind == Kind::str || memory.kind == Kind::hex) {
      as.most_bytes = most_bytes_of(memory);
      result = address(memory, 0);
    }
    out_.op(TC_OP_RETURN, 0, result);
    return code(expr, std::move(as));
  }

 private:
  ValueType type(const Expr& expr) const { return type_of(expr, arguments_); }

  bool is_unsigned(const Expr& expr) const { return type(expr) == ValueType::u64; }

  // A literal that is in the range of both types takes the other side's type.
  bool suits_both(const Expr& expr) const {
    auto literal = literal_of(expr);
    return literal && !literal->is_unsigned && !literal->is_negative();
  }

  Result<ExprCode> code(const Expr& whole, ExprCode as) {
    as.insns = out_.insns();
    as.texts = out_.texts();
    if (as.insns.size() <= TC_MAX_INSNS && !out_of_registers_) return as;
    const std::string bound = out_of_registers_ ? std::to_string(TC_REGISTERS) + " registers"
                                                : std::to_string(TC_MAX_INSNS) + " instructions";
    return error_at(to_string(whole), 0,
                    "this expression is too long: it takes more than " + bound);
  }

  // ---- values ----

  // Uses the registers from `free` on. If the value is in a register, that is `free`.
  Source value(const Expr& expr, uint8_t free) {
    if (auto literal = literal_of(expr)) return immediate(literal->bits);
    switch (expr.kind) {
      case Kind::operand: return operand(expr);
      case Kind::field: return value(expr.children[0], free);
      case Kind::read: return read(expr, free);
      case Kind::unary: return unary(expr, free);
      default: return binary(expr, free);
    }
  }

  Source operand(const Expr& expr) const {
    if (expr.operand == Operand::retval)
      return {TC_FROM_RETVAL, static_cast<uint8_t>(expr.number ? expr.number : kWholeResult), 0};
    if (expr.operand != Operand::arg && expr.operand != Operand::symbol)
      return {source_of(expr.operand)};
    tc_source from = arguments_[expr.number].is_signed ? TC_FROM_ARG_SIGNED : TC_FROM_ARG;
    return {from, static_cast<uint8_t>(expr.number), 0};
  }

  Source read(const Expr& expr, uint8_t free) {
    Source address = value(expr.children[0], free);
    out_.op(read_op(expr.read), claim(free), address);
    return in_register(free);
  }

  Source unary(const Expr& expr, uint8_t free) {
    if (expr.op == Operator::logical_not) return truth(expr, free);
    // -x is x * -1 and ~x is x ^ -1, modulo 2^64: one instruction, including the load of its
    // operand.
    tc_op op = expr.op == Operator::negate ? TC_OP_MUL : TC_OP_XOR;
    Source child = value(expr.children[0], free);
    if (child.is_immediate()) child = moved(child, free);
    out_.op(op, claim(free), child, kMinusOne);
    return in_register(free);
  }

  Source binary(const Expr& expr, uint8_t free) {
    if (is_comparison(expr.op) || precedence_of(expr.op) <= precedence_of(Operator::logical_and))
      return truth(expr, free);
    const Sides at = sides(expr.children[0], expr.children[1], free, commutes(expr.op));
    out_.op(arithmetic(expr.op, is_unsigned(expr)), claim(free), at.a, at.b);
    return in_register(free);
  }

  // 1 or 0.
  Source truth(const Expr& expr, uint8_t free) {
    Label no;
    out_.op(TC_OP_MOVE, claim(free), kZero);
    skip_if(expr, false, no, next(free));
    out_.op(TC_OP_MOVE, free, kOne);
    out_.bind(no);
    return in_register(free);
  }

  struct Sides {
    Source a, b;
    bool exchanged = false;
  };

  // The two operands in a form an instruction accepts: b plain, and not two immediates.
  Sides sides(const Expr& first, const Expr& second, uint8_t free, bool may_exchange) {
    Source a = value(first, free);
    uint8_t left = a.is_register() ? next(free) : free;
    Source b = value(second, left);
    if (!b.is_plain() && may_exchange && a.is_plain()) return {b, a, true};
    if (!b.is_plain()) b = moved(b, left);
    if (a.is_immediate() && b.is_immediate()) a = moved(a, free);
    return {a, b};
  }

  // ---- strings and bytes ----

  static bool is_sized(const Expr& string) { return string.children.size() > 1; }

  static uint8_t most_bytes_of(const Expr& string) {
    return static_cast<uint8_t>(string.number | (is_sized(string) ? TC_STR_SIZED : 0));
  }

  // Where the string or the bytes are; with TC_STR_SIZED the length is in it.
  Source address(const Expr& string, uint8_t free) {
    if (!is_sized(string)) return value(string.children[0], free);
    const uint8_t length = next(free);
    const Source at = moved(value(string.children[0], free), free);
    out_.op(TC_OP_SHR_U, claim(length), at, immediate(TC_ADDRESS_BITS));
    fail_if(TC_OP_SKIP_UNLESS_U, TC_GREATER, length);  // no address has these bits
    moved(value(string.children[1], length), length);
    if (!is_unsigned(string.children[1])) fail_if(TC_OP_SKIP_UNLESS_S, TC_LESS, length);
    at_most(length, TC_STR_LEN);
    out_.op(TC_OP_SHL, length, in_register(length), immediate(TC_ADDRESS_BITS));
    out_.op(TC_OP_OR, free, at, in_register(length));
    return at;
  }

  // Fails if the register has this relation to 0.
  void fail_if(tc_op skip_unless, tc_relation relation, uint8_t number) {
    Label over;
    out_.skip_unless(skip_unless, relation, in_register(number), kZero, over);
    out_.op(TC_OP_DIV_U, number, in_register(number), kZero);
    out_.bind(over);
  }

  void at_most(uint8_t number, uint64_t most) {
    Label over;
    out_.skip_unless(TC_OP_SKIP_UNLESS_U, TC_GREATER, in_register(number), immediate(most), over);
    out_.op(TC_OP_MOVE, number, immediate(most));
    out_.bind(over);
  }

  // ---- registers ----

  Source moved(const Source& source, uint8_t to) {
    if (source.is_register() && source.number == to) return source;
    out_.op(TC_OP_MOVE, claim(to), source);
    return in_register(to);
  }

  uint8_t next(uint8_t free) const { return static_cast<uint8_t>(free + 1); }

  uint8_t claim(uint8_t number) {
    out_of_registers_ |= number >= TC_REGISTERS;
    return number;
  }

  // ---- conditions ----

  // Skips to the label if the expression's truth is `truth`, and continues after it otherwise.
  void skip_if(const Expr& expr, bool truth, Label& label, uint8_t free) {
    if (auto literal = literal_of(expr)) return skip_if_literal(literal->bits, truth, label);
    if (expr.kind == Kind::unary && expr.op == Operator::logical_not)
      return skip_if(expr.children[0], !truth, label, free);
    if (expr.kind != Kind::binary) return skip_if_value(expr, truth, label, free);
    if (expr.op == Operator::logical_and || expr.op == Operator::logical_or)
      return skip_if_joined(expr, truth, label, free);
    if (!is_comparison(expr.op)) return skip_if_value(expr, truth, label, free);
    const bool of_text = !is_integer(type(expr.children[0]));
    of_text ? skip_if_text(expr, truth, label, free) : skip_if_compared(expr, truth, label, free);
  }

  void skip_if_literal(uint64_t bits, bool truth, Label& label) {
    if ((bits != 0) == truth) out_.skip(label);
  }

  void skip_if_value(const Expr& expr, bool truth, Label& label, uint8_t free) {
    Source source = value(expr, free);
    out_.skip_unless(TC_OP_SKIP_UNLESS_U, relations(truth ? Operator::equal : Operator::not_equal),
                     source, kZero, label);
  }

  // && is decided by the first side that is false, || by the first that is true.
  void skip_if_joined(const Expr& expr, bool truth, Label& label, uint8_t free) {
    const bool decides = expr.op == Operator::logical_or;
    Label over;
    skip_if(expr.children[0], decides, truth == decides ? label : over, free);
    skip_if(expr.children[1], truth, label, free);
    out_.bind(over);
  }

  void skip_if_compared(const Expr& expr, bool truth, Label& label, uint8_t free) {
    const Expr &left = expr.children[0], &right = expr.children[1];
    const bool mixed =
        !suits_both(left) && !suits_both(right) && is_unsigned(left) != is_unsigned(right);
    if (mixed) return skip_if_mixed(expr, truth, label, free);
    const bool is_u = is_unsigned(left) || is_unsigned(right);
    auto [a, b, exchanged] = sides(left, right, free, true);
    Operator op = exchanged ? mirrored(expr.op) : expr.op;
    if (truth) op = inverse(op);
    out_.skip_unless(is_u ? TC_OP_SKIP_UNLESS_U : TC_OP_SKIP_UNLESS_S, relations(op), a, b, label);
  }

  // Puts the signed side first.
  void skip_if_mixed(const Expr& expr, bool truth, Label& label, uint8_t free) {
    const bool exchanged = is_unsigned(expr.children[0]);
    const Expr& signed_side = expr.children[exchanged ? 1 : 0];
    const Expr& unsigned_side = expr.children[exchanged ? 0 : 1];
    const Sides at = sides(signed_side, unsigned_side, free, false);
    Operator op = exchanged ? mirrored(expr.op) : expr.op;
    if (truth) op = inverse(op);
    out_.skip_unless(TC_OP_SKIP_UNLESS_SU, relations(op), at.a, at.b, label);
  }

  void skip_if_text(const Expr& expr, bool truth, Label& label, uint8_t free) {
    const bool on_left = expr.children[0].kind == Kind::text;
    const Expr& text = expr.children[on_left ? 0 : 1];
    const Expr& string = loads_of_text(expr.children[on_left ? 1 : 0]);
    const bool user = string.kind == Kind::str;
    Source at = user ? address(string, free) : Source{TC_FROM_REGISTER};
    if (at.is_immediate()) at = moved(at, free);
    out_.skip_unless_text(text_comparison(expr.op, !truth), text_of_string(string), at,
                          user ? most_bytes_of(string) : uint8_t{0}, text.text, label);
  }

  const Arguments& arguments_;
  Emitter out_;
  bool out_of_registers_ = false;
};

}  // namespace

Result<ExprCode> compile_condition(const Expr& expr, const Arguments& arguments) {
  auto type = check_integer(expr, {.arguments = &arguments});
  if (!type) return type.error();
  return Compiler{arguments}.condition(expr);
}

Result<ExprCode> compile_value(const Expr& expr, const Arguments& arguments) {
  // As the value of a sum; the parser takes it nowhere else.
  const bool is_block = expr.kind == Kind::operand && expr.operand == Operand::block;
  const auto check = is_float(type_of(expr, arguments)) ? check_value : check_key;
  if (!is_block)
    if (auto type = check(expr, {.arguments = &arguments}); !type) return type.error();
  return Compiler{arguments}.value(expr);
}

}  // namespace tracectl
