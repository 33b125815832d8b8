// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/check.h"

#include <limits>
#include <string>

#include "bpf/abi.h"
#include "daemon/spec/cursor.h"
#include "daemon/spec/lexer.h"

namespace tracectl {
namespace {

using Kind = Expr::Kind;

constexpr uint64_t kMostShift = 63;
constexpr uint64_t kUnsignedWhole = sizeof(uint64_t);  // the size of an unsigned result

// The longest string that it can be: str(E), the thread's name, or its tag, which the program may
// set.
size_t most_bytes_of(const Expr& expr) {
  const Expr& string = loads_of_text(expr);
  if (may_be_text(string)) return Expr::kMostStrBytes;
  if (string.kind == Kind::str) return string.number;
  static_assert(TC_OWN_TAG_LEN > TC_TAG_LEN);
  return string.operand == Operand::tag ? TC_OWN_TAG_LEN - 1 : TC_COMM_LEN - 1;
}

ValueType type_of_operand(const Expr& expr, const Arguments& arguments) {
  switch (expr.operand) {
    case Operand::comm: return ValueType::comm;
    case Operand::tag: return ValueType::tag;
    case Operand::container: return ValueType::container;
    case Operand::unit: return ValueType::unit;
    case Operand::stack: return ValueType::stack;
    case Operand::caller: return ValueType::caller;
    case Operand::path: return ValueType::path;
    case Operand::ts:
    case Operand::stack_bytes:
    case Operand::duration:
    case Operand::blocked:
    case Operand::runnable:
    case Operand::block:
    case Operand::cgroup: return ValueType::u64;
    case Operand::retval: return expr.number == kUnsignedWhole ? ValueType::u64 : ValueType::s64;
    case Operand::symbol:
      if (expr.number >= arguments.size()) return ValueType::u64;
      break;
    case Operand::arg: break;
    default: return ValueType::s64;
  }
  if (expr.number >= arguments.size()) return ValueType::s64;
  const Argument& argument = arguments[expr.number];
  return argument.size_bytes == 8 && !argument.is_signed ? ValueType::u64 : ValueType::s64;
}

bool keeps_left_type(Operator op) {
  return op == Operator::shift_left || op == Operator::shift_right;
}

bool gives_truth(Operator op) {
  return is_comparison(op) || op == Operator::logical_and || op == Operator::logical_or;
}

ValueType type_of_binary(const Expr& expr, const Arguments& arguments) {
  if (gives_truth(expr.op)) return ValueType::s64;
  ValueType left = type_of(expr.children[0], arguments);
  if (keeps_left_type(expr.op) || left == ValueType::u64) return left;
  return type_of(expr.children[1], arguments);
}

ValueType type_of_unary(const Expr& expr, const Arguments& arguments) {
  if (expr.op == Operator::logical_not || literal_of(expr)) return ValueType::s64;
  return type_of(expr.children[0], arguments);
}

const char* why_no_integer(const Expr& expr) {
  if (expr.kind == Kind::text) return "a text is no integer";
  if (expr.kind == Kind::str) return "str() is a string, not an integer";
  if (expr.kind == Kind::field) return "this is a text, not an integer";
  return expr.operand == Operand::tag ? "tag is a string, not an integer"
                                      : "comm is a string, not an integer";
}

class Checker {
 public:
  Checker(const Expr& whole, const CheckAgainst& against) : whole_(whole), against_(against) {}

  Status integer(const Expr& expr) const {
    if (is_string(expr)) return string_as_integer(expr);
    if (expr.kind == Kind::hex) return bytes_as_integer(expr);
    switch (expr.kind) {
      case Kind::operand: return operand(expr);
      case Kind::field: return field(expr);
      case Kind::read: return integer(expr.children[0]);
      case Kind::unary: return unary(expr);
      case Kind::binary: return binary(expr);
      default: return ok();
    }
  }

  Status key(const Expr& expr) const {
    if (is_float_field(expr)) return float_as_integer(expr);
    return is_key_only(expr) ? ok() : value(expr);
  }

  Status value(const Expr& expr) const {
    if (loads_of_text(expr).kind == Kind::str) return memory_of_string(loads_of_text(expr));
    if (expr.kind == Kind::hex || is_float_field(expr)) return integer(expr.children[0]);
    if (expr.kind == Kind::text) return error(expr, "a text that never changes is no value");
    return is_string(expr) ? ok() : integer(expr);
  }

 private:
  static bool is_key_only(const Expr& expr) {
    if (expr.kind != Kind::operand) return false;
    const ValueType type = type_of_operand(expr, {});
    return is_cgroup_name(type) || is_stack(type) || is_path(type);
  }

  static bool is_string(const Expr& expr) {
    bool name = expr.kind == Kind::operand &&
                (expr.operand == Operand::comm || expr.operand == Operand::tag);
    return name || expr.kind == Kind::text || loads_of_text(expr).kind == Kind::str;
  }

  // Where the site is known, so is what it is.
  bool may_be_string(const Expr& expr) const {
    return is_string(expr) || (!against_.arguments && may_be_text(expr));
  }

  // Its address, and its length if that is an expression.
  Status memory_of_string(const Expr& string) const {
    for (const Expr& child : string.children)
      if (Status checked = integer(child); !checked) return checked;
    return ok();
  }

  Error string_as_integer(const Expr& expr) const {
    return error(expr, std::string{why_no_integer(expr)} + "; strings compare with ==, != and =~");
  }

  static bool is_float_field(const Expr& expr) {
    return expr.kind == Kind::field && expr.number != 0;
  }

  Status field(const Expr& expr) const {
    return is_float_field(expr) ? float_as_integer(expr) : integer(expr.children[0]);
  }

  Error float_as_integer(const Expr& expr) const {
    return error(expr, "this is a float, not an integer: it can be a value of an event");
  }

  Error bytes_as_integer(const Expr& expr) const {
    return error(expr, "hex() is shown: a value of an event, or a key; u8 to u64 read an integer");
  }

  Status operand(const Expr& expr) const {
    if (is_key_only(expr)) return key_as_value(expr);
    if (expr.operand == Operand::block)
      return error(expr,
                   "block is known when a thread runs again after it was blocked, and summed then: "
                   "sum(block), avg(block), min(block) or max(block), each alone or by stack");
    if (!against_.arguments) return ok();
    const Arguments& arguments = *against_.arguments;
    if (expr.operand == Operand::symbol && expr.number >= arguments.size())
      return error(expr, std::string{expr.text.empty() ? "a variable" : "uaddr"} +
                             " is known where a probe is armed; events do not record it");
    if (expr.operand != Operand::arg) return ok();
    const size_t count = count_of_probe(arguments);
    if (expr.number >= count) return error(expr, known_arguments(count));
    const Argument& argument = arguments[expr.number];
    const std::string name = "arg" + std::to_string(expr.number);
    if (argument.is_float)
      return error(expr, name + " is a float (" + type_name(argument) + "), not an integer");
    if (!is_readable(argument)) return error(expr, name + " cannot be read here: " + argument.text);
    return ok();
  }

  Error key_as_value(const Expr& expr) const {
    if (expr.operand == Operand::path)
      return error(expr, "path is a key of what calls of a graph took: graph, time by path");
    const std::string name{name_of(expr.operand)};
    const bool of_cgroup = is_cgroup_name(type_of_operand(expr, {}));
    return error(expr, name + " is looked up when rows are read: it can be a key (count by " +
                           name +
                           (of_cgroup ? "), here cgroup is what is known"
                                      : "); events have a stack by the action of that name"));
  }

  static std::string known_arguments(size_t count) {
    if (count == 0) return "this probe has no arguments";
    std::string text = "this probe has " + std::to_string(count);
    text += count == 1 ? " argument: " : " arguments: ";
    for (size_t i = 0; i < count; i++) text += (i ? ", arg" : "arg") + std::to_string(i);
    return text;
  }

  Status unary(const Expr& expr) const {
    const Expr& child = expr.children[0];
    bool literal = expr.op == Operator::negate && child.kind == Kind::integer;
    if (literal && child.number > kLeastMagnitude)
      return error(expr, "this is below the least integer of 64 bits");
    return integer(child);
  }

  Status binary(const Expr& expr) const {
    const Expr &left = expr.children[0], &right = expr.children[1];
    bool equality = expr.op == Operator::equal || expr.op == Operator::not_equal;
    if (expr.op == Operator::like || (equality && (is_string(left) || is_string(right))))
      return strings(expr);
    if (Status checked = integer(left); !checked) return checked;
    if (Status checked = integer(right); !checked) return checked;
    auto literal = literal_of(right);
    return literal ? right_literal(expr, *literal) : ok();
  }

  Status right_literal(const Expr& expr, const Literal& literal) const {
    const Expr& right = expr.children[1];
    bool divides = expr.op == Operator::divide || expr.op == Operator::modulo;
    if (divides && literal.bits == 0) return error(right, "this divides by 0");
    if (keeps_left_type(expr.op) && literal.bits > kMostShift)
      return error(right, "a shift goes from 0 to " + std::to_string(kMostShift) + " bits");
    return ok();
  }

  // Comparisons of comm or str(E) with a text.
  Status strings(const Expr& expr) const {
    const Expr &left = expr.children[0], &right = expr.children[1];
    if (expr.op == Operator::like) {
      if (right.kind != Kind::text) return error(right, "=~ takes a glob here: \"select*\"");
      if (!may_be_string(left)) return error(left, "=~ compares a string: comm, tag, or str(arg0)");
    }
    for (const Expr* side : {&left, &right}) {
      if (side->kind == Kind::hex) return bytes_as_integer(*side);
      if (may_be_text(*side))
        if (Status readable = integer(*side); !readable) return readable;
      if (!may_be_string(*side))
        return error(*side, "this is an integer, compared with a string; str(E) reads a string");
    }
    if ((left.kind == Kind::text) == (right.kind == Kind::text))
      return error(expr, "a string is compared with a text in quotes: comm == \"init\"");
    const bool text_on_right = right.kind == Kind::text;
    return string_and_text(expr, text_on_right ? left : right, text_on_right ? right : left);
  }

  Status string_and_text(const Expr& expr, const Expr& string, const Expr& text) const {
    const size_t most = most_bytes_of(string);
    if (expr.op != Operator::like && text.text.size() > most)
      return error(text, "never equal: the string has " + std::to_string(most) +
                             " bytes at most, this text " + std::to_string(text.text.size()));
    const Expr& memory = loads_of_text(string);
    return memory.kind == Kind::str ? memory_of_string(memory) : ok();
  }

  Error error(const Expr& part, std::string message) const {
    if (!against_.text.empty()) return error_at(against_.text, part.column, std::move(message));
    return error_at(to_string(whole_), column_of(part, whole_), std::move(message));
  }

  const Expr& whole_;
  CheckAgainst against_;
};

Result<ValueType> typed(const Status& checked, const Expr& expr, const Arguments* arguments) {
  if (!checked) return checked.error();
  return type_of(expr, arguments ? *arguments : Arguments{});
}

}  // namespace

Result<ValueType> check_integer(const Expr& expr, const CheckAgainst& against) {
  return typed(Checker{expr, against}.integer(expr), expr, against.arguments);
}

Result<ValueType> check_value(const Expr& expr, const CheckAgainst& against) {
  return typed(Checker{expr, against}.value(expr), expr, against.arguments);
}

Result<ValueType> check_key(const Expr& expr, const CheckAgainst& against) {
  return typed(Checker{expr, against}.key(expr), expr, against.arguments);
}

Result<ValueType> check_aggregated(const Expr& expr, Aggregate::Kind kind,
                                   const CheckAgainst& against) {
  const bool is_sum = kind != Aggregate::Kind::hist && kind != Aggregate::Kind::lhist;
  if (is_sum && expr.kind == Kind::operand && expr.operand == Operand::block)
    return type_of(expr, {});
  return check_integer(expr, against);
}

// The program in the kernel's scheduler knows the stack, and nothing else of the call.
std::optional<std::string> why_not_beside(const Aggregate& one,
                                          const std::vector<Aggregate>& others) {
  if (!is_of_blocks(one)) return std::nullopt;
  for (const Expr& key : one.by)
    if (key.kind != Kind::operand || key.operand != Operand::stack)
      return "block is summed by stack, or without a key; not by " + to_string(key);
  for (const Aggregate& other : others)
    if (is_of_blocks(other) && other.by != one.by)
      return "block is summed by the same key everywhere: stage the other sum as a setting of "
             "another session";
  return std::nullopt;
}

ValueType type_of(const Expr& expr, const Arguments& arguments) {
  switch (expr.kind) {
    case Kind::integer: return literal_of(expr)->is_unsigned ? ValueType::u64 : ValueType::s64;
    case Kind::text:
    case Kind::str: return ValueType::string;
    case Kind::hex: return ValueType::bytes;
    case Kind::operand: return type_of_operand(expr, arguments);
    case Kind::enumerator: return ValueType::s64;
    case Kind::field:
      if (expr.number) return expr.number == sizeof(float) ? ValueType::f32 : ValueType::f64;
      return type_of(expr.children[0], arguments);
    case Kind::read: return expr.read == Read::u64 ? ValueType::u64 : ValueType::s64;
    case Kind::unary: return type_of_unary(expr, arguments);
    case Kind::binary: return type_of_binary(expr, arguments);
  }
  return ValueType::s64;
}

std::optional<Literal> literal_of(const Expr& expr) {
  if (expr.kind == Kind::integer)
    return Literal{expr.number, expr.number > std::numeric_limits<int64_t>::max()};
  if (expr.kind == Kind::enumerator) return Literal{expr.number, false};
  bool negated = expr.kind == Kind::unary && expr.op == Operator::negate &&
                 expr.children[0].kind == Kind::integer;
  if (!negated) return std::nullopt;
  return Literal{-expr.children[0].number, false};
}

}  // namespace tracectl
