// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/expr.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "daemon/model/stack.h"

namespace tracectl {
namespace {

struct OperatorWord {
  std::string_view text;
  unsigned precedence;  // 0: unary
};

// In the order of Operator.
constexpr std::array kOperators = std::to_array<OperatorWord>(
    {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},  {"==", 6}, {"!=", 6}, {"=~", 6},
     {"<", 7},  {"<=", 7}, {">", 7},  {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9},  {"-", 9},
     {"*", 10}, {"/", 10}, {"%", 10}, {"!", 0},  {"~", 0},  {"-", 0}});

constexpr std::array kOperands = std::to_array<std::string_view>(
    {"arg",    "uaddr",       "pid",    "tid",       "uid",      "cpu",   "comm",   "cgroup",
     "ts",     "stack_bytes", "tag",    "container", "unit",     "stack", "caller", "path",
     "retval", "duration",    "thrown", "blocked",   "runnable", "block"});

constexpr std::array kReads =
    std::to_array<std::string_view>({"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"});

bool is_bitwise(Operator op) {
  return op == Operator::bit_or || op == Operator::bit_xor || op == Operator::bit_and;
}

std::optional<Operator> find_operator(std::string_view text, bool unary) {
  for (size_t i = 0; i < kOperators.size(); i++)
    if (kOperators[i].text == text && (kOperators[i].precedence == 0) == unary)
      return static_cast<Operator>(i);
  return std::nullopt;
}

std::string escaped(char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (c == '"' || c == '\\') return {'\\', c};
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c >= 0x20 && c < 0x7f) return {c};
  auto byte = static_cast<unsigned char>(c);
  return {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

class Printer {
 public:
  explicit Printer(const Expr* sought) : sought_(sought) {}

  void print(const Expr& expr) {
    if (expr.kind != Expr::Kind::binary) mark(expr);
    switch (expr.kind) {
      case Expr::Kind::integer: text += std::to_string(expr.number); break;
      case Expr::Kind::text: text += quoted_text(expr.text); break;
      case Expr::Kind::operand: print_operand(expr); break;
      case Expr::Kind::field: print_field(expr); break;
      case Expr::Kind::enumerator: text += expr.text; break;
      case Expr::Kind::str: print_str(expr); break;
      case Expr::Kind::hex: print_hex(expr); break;
      case Expr::Kind::read: print_call(name_of(expr.read), expr.children[0]); break;
      case Expr::Kind::unary: print_unary(expr); break;
      case Expr::Kind::binary: print_binary(expr); break;
    }
  }

  std::string text;
  size_t sought_at = 0;

 private:
  void mark(const Expr& expr) {
    if (&expr == sought_) sought_at = text.size();
  }

  void print_operand(const Expr& expr) {
    text += name_of(expr.operand);
    if (expr.operand == Operand::symbol) text += '(' + quoted_text(expr.text) + ')';
    if (expr.operand == Operand::stack && expr.number != kDefaultFrames)
      text += '(' + std::to_string(expr.number) + ')';
    if (expr.operand != Operand::arg) return;
    text += expr.text.empty() ? std::to_string(expr.number) : '.' + expr.text;
  }

  // Its loads have no text of their own.
  void print_field(const Expr& expr) {
    if (has_part(expr, sought_)) sought_at = text.size();
    text += expr.text;
  }

  static bool has_part(const Expr& expr, const Expr* sought) {
    return std::any_of(expr.children.begin(), expr.children.end(), [&](const Expr& child) {
      return &child == sought || has_part(child, sought);
    });
  }

  void print_str(const Expr& expr) {
    if (expr.text == Expr::kLibcxx)
      print_call(Expr::kCstr, expr.children[0].children[0].children[0]);
    else if (expr.text == Expr::kCstr)
      print_call(Expr::kCstr, expr.children[0].children[0]);
    else
      print_call("str", expr.children[0]);
    if (expr.children.size() > 1) print_last(expr.children[1]);
    if (expr.number != Expr::kMostStrBytes) print_last(std::to_string(expr.number));
    if (expr.text == Expr::kLibcxx) print_last(Expr::kLibcxx);
  }

  void print_hex(const Expr& expr) {
    print_call("hex", expr.children[0]);
    print_last(std::to_string(expr.number));
  }

  // Adds a parameter to the call.
  void print_last(const std::string& parameter) {
    text.back() = ',';
    text += ' ' + parameter + ')';
  }

  void print_last(const Expr& parameter) {
    text.back() = ',';
    text += ' ';
    print(parameter);
    text += ')';
  }

  void print_call(std::string_view name, const Expr& child) {
    text += name;
    print_in_parentheses(child);
  }

  void print_unary(const Expr& expr) {
    text += text_of(expr.op);
    const Expr& child = expr.children[0];
    child.kind == Expr::Kind::binary ? print_in_parentheses(child) : print(child);
  }

  void print_binary(const Expr& expr) {
    print_side(expr, expr.children[0], precedence_of(expr.op));
    text += ' ';
    mark(expr);
    text += text_of(expr.op);
    text += ' ';
    print_side(expr, expr.children[1], precedence_of(expr.op) + 1);
  }

  void print_side(const Expr& expr, const Expr& side, unsigned least) {
    bool bare = side.kind != Expr::Kind::binary ||
                (precedence_of(side.op) >= least && !is_misleading(expr.op, side.op));
    bare ? print(side) : print_in_parentheses(side);
  }

  void print_in_parentheses(const Expr& expr) {
    text += '(';
    print(expr);
    text += ')';
  }

  const Expr* sought_;
};

}  // namespace

bool Expr::operator==(const Expr& other) const {
  const auto meaning = [](const Expr& expr) {
    return std::tie(expr.kind, expr.op, expr.operand, expr.read, expr.number, expr.text);
  };
  return meaning(*this) == meaning(other) && children == other.children;
}

Expr Expr::of_integer(uint64_t value, size_t column) {
  return {.kind = Kind::integer, .number = value, .column = column};
}

Expr Expr::of_text(std::string text, size_t column) {
  return {.kind = Kind::text, .text = std::move(text), .column = column};
}

Expr Expr::of_operand(Operand operand, uint64_t index, size_t column) {
  return {.kind = Kind::operand, .operand = operand, .number = index, .column = column};
}

Expr Expr::of_symbol(std::string name, size_t column) {
  Expr expr = of_operand(Operand::symbol, 0, column);
  expr.text = std::move(name);
  return expr;
}

Expr Expr::of_field(std::string path, Expr base, size_t column) {
  Expr expr{.kind = Kind::field, .text = std::move(path), .column = column};
  expr.children.push_back(std::move(base));
  return expr;
}

Expr Expr::of_enumerator(std::string name, size_t column) {
  return {.kind = Kind::enumerator, .text = std::move(name), .column = column};
}

Expr Expr::of_cstr(Expr address, uint64_t most_bytes, size_t column) {
  Expr expr = of_str(of_read(Read::u64, std::move(address), column), most_bytes, column);
  expr.text = kCstr;
  return expr;
}

// The address comes first, because it is printed and errors in it are located there.
Expr Expr::of_libcxx(Expr address, uint64_t most_bytes, size_t column) {
  constexpr uint64_t kPointer = 16;  // after capacity and size
  const auto binary = [&](Operator op, Expr left, Expr right) {
    return of_binary(op, std::move(left), std::move(right), column);
  };
  const auto number = [&](uint64_t value) { return of_integer(value, column); };
  const Expr inside = binary(Operator::add, address, number(1));
  const Expr is_long = binary(Operator::bit_and, of_read(Read::u8, address, column), number(1));
  Expr pointer = of_read(Read::u64, binary(Operator::add, address, number(kPointer)), column);
  Expr further = binary(Operator::subtract, std::move(pointer), inside);
  Expr expr =
      of_str(binary(Operator::add, inside, binary(Operator::multiply, is_long, std::move(further))),
             most_bytes, column);
  expr.text = kLibcxx;
  return expr;
}

Expr Expr::of_str(Expr address, uint64_t most_bytes, size_t column) {
  Expr expr{.kind = Kind::str, .number = most_bytes, .column = column};
  expr.children.push_back(std::move(address));
  return expr;
}

Expr Expr::of_sized_str(Expr address, Expr length, size_t column) {
  Expr expr = of_str(std::move(address), kMostStrBytes, column);
  expr.children.push_back(std::move(length));
  return expr;
}

Expr Expr::of_hex(Expr address, uint64_t bytes, size_t column) {
  Expr expr{.kind = Kind::hex, .number = bytes, .column = column};
  expr.children.push_back(std::move(address));
  return expr;
}

Expr Expr::of_read(Read read, Expr address, size_t column) {
  Expr expr{.kind = Kind::read, .read = read, .column = column};
  expr.children.push_back(std::move(address));
  return expr;
}

Expr Expr::of_unary(Operator op, Expr child, size_t column) {
  Expr expr{.kind = Kind::unary, .op = op, .column = column};
  expr.children.push_back(std::move(child));
  return expr;
}

Expr Expr::of_binary(Operator op, Expr left, Expr right, size_t column) {
  Expr expr{.kind = Kind::binary, .op = op, .column = column};
  expr.children.reserve(2);
  expr.children.push_back(std::move(left));
  expr.children.push_back(std::move(right));
  return expr;
}

const Expr& loads_of_text(const Expr& expr) {
  const bool is_computed = expr.kind == Expr::Kind::field && expr.children.size() > 1;
  return is_computed && expr.children[0].kind == Expr::Kind::str ? expr.children[0] : expr;
}

bool may_be_text(const Expr& expr) {
  if (expr.kind == Expr::Kind::field) return expr.children.size() == 1;
  if (expr.kind != Expr::Kind::operand) return false;
  return expr.operand == Operand::retval || (expr.operand == Operand::arg && !expr.text.empty());
}

std::string to_string(const Expr& expr) {
  Printer printer{nullptr};
  printer.print(expr);
  return std::move(printer.text);
}

size_t column_of(const Expr& part, const Expr& whole) {
  Printer printer{&part};
  printer.print(whole);
  return printer.sought_at;
}

std::string quoted_text(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) quoted += escaped(c);
  return quoted + '"';
}

std::string_view name_of(Operand operand) { return kOperands[static_cast<size_t>(operand)]; }

std::string_view name_of(Read read) { return kReads[static_cast<size_t>(read)]; }

std::optional<Operand> operand_named(std::string_view name) {
  constexpr auto kNamed = static_cast<size_t>(Operand::symbol) + 1;
  const auto at = std::find(kOperands.begin() + kNamed, kOperands.end(), name);
  if (at == kOperands.end()) return std::nullopt;
  return static_cast<Operand>(at - kOperands.begin());
}

std::optional<Read> read_named(std::string_view name) {
  const auto at = std::find(kReads.begin(), kReads.end(), name);
  if (at == kReads.end()) return std::nullopt;
  return static_cast<Read>(at - kReads.begin());
}

unsigned precedence_of(Operator op) { return kOperators[static_cast<size_t>(op)].precedence; }

std::string_view text_of(Operator op) { return kOperators[static_cast<size_t>(op)].text; }

std::optional<Operator> binary_operator(std::string_view text) {
  return find_operator(text, false);
}

std::optional<Operator> unary_operator(std::string_view text) { return find_operator(text, true); }

bool is_comparison(Operator op) { return op >= Operator::equal && op <= Operator::greater_equal; }

bool is_misleading(Operator outer, Operator inner) {
  return is_comparison(inner) && (is_comparison(outer) || is_bitwise(outer));
}

}  // namespace tracectl
