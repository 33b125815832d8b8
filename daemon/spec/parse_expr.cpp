// SPDX-License-Identifier: BSD-2-Clause
//
// Expressions, by precedence climbing: binary(n) parses operators that bind at least as tightly as
// n. Depth is bounded twice, because everything that later walks over an expression is recursive:
// nesting by parentheses and unary operators while it is parsed, everything else by the number of
// parts.
#include "daemon/spec/parse_expr.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/nearest.h"
#include "daemon/model/field_path.h"
#include "daemon/model/stack.h"

namespace tracectl {
namespace {

constexpr unsigned kMostNesting = 32;
constexpr unsigned kMostParts = 256;  // far more than fit into an expression's code
constexpr unsigned kLoosest = 1;

constexpr const char* kWords =
    "arg0 to arg11, pid, tid, uid, cpu, comm, cgroup, ts, stack_bytes, tag, retval, duration, "
    "thrown, blocked, runnable, block, str(E), cstr(E), hex(E, N), uaddr(\"NAME\"), s8 u8 s16 u16 "
    "s32 u32 s64 u64 (E)";

constexpr std::array kNames = std::to_array<std::string_view>(
    {"arg0",        "pid",     "tid",       "uid",   "cpu",   "comm",   "cgroup", "ts",
     "stack_bytes", "tag",     "container", "unit",  "stack", "caller", "retval", "duration",
     "thrown",      "blocked", "runnable",  "block", "str",   "cstr",   "hex",    "uaddr",
     "s8",          "u8",      "s16",       "u16",   "s32",   "u32",    "s64",    "u64"});

constexpr std::string_view kNamedArgument = "arg.", kNamedArgumentInBpftrace = "args.";

// Words of bpftrace's that mean the same.
std::optional<Operand> operand_in_bpftrace(std::string_view name) {
  if (name == "nsecs") return Operand::ts;
  if (name == "ustack") return Operand::stack;
  return std::nullopt;
}

// What there is instead of a name that is none, where the nearest name is not what is meant.
constexpr std::array kOtherNames = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"thread", "; did you mean \"tid\"?"},
    {"args", "; an argument by its name is arg.NAME"},
    {"arg", "; an argument by its name is arg.NAME"},
    {"var", "; a variable at a line is var.NAME"},
    {"kstack", "; stack is that of the program, and none is taken of the kernel"},
    {"username", "; uid is the number of the user"},
    {"elapsed", "; ts is the time, and duration that of a call"},
});

bool gives_text(const Expr& expr) {
  return expr.kind == Expr::Kind::str ||
         (expr.kind == Expr::Kind::operand && expr.operand == Operand::comm);
}

// Looks like argN; its N may be anything.
bool is_argument(std::string_view name) {
  return name.size() > 3 && name.starts_with("arg") &&
         std::all_of(name.begin() + 3, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class ExprParser {
 public:
  ExprParser(Cursor& cursor, std::span<const std::string_view> also)
      : cursor_(cursor), names_(kNames.begin(), kNames.end()) {
    names_.insert(names_.end(), also.begin(), also.end());
  }

  Result<Expr> parse() {
    auto part = binary(kLoosest);
    if (!part) return part.error();
    return std::move(part->expr);
  }

 private:
  struct Part {
    Expr expr;
    bool in_parentheses = false;
  };

  Result<Part> binary(unsigned least) {
    auto left = unary();
    if (!left) return left;
    for (auto op = operator_here(); op && precedence_of(*op) >= least; op = operator_here()) {
      const Token token = cursor_.take();
      if (is_comparison(*op) && gives_text(left->expr) && at_enumerator())
        return unquoted(cursor_.here());
      auto right = has_enumerators(*op, *left) && at_enumerator() ? enumerator()
                                                                  : binary(precedence_of(*op) + 1);
      if (!right) return right;
      if (Status clear = check_clear(token, *op, *left, *right); !clear) return clear.error();
      left = counted(
          Expr::of_binary(*op, std::move(left->expr), std::move(right->expr), token.column));
      if (!left) return left;
    }
    return left;
  }

  // Whether names on the right side can be values of the left side's type.
  static bool has_enumerators(Operator op, const Part& left) {
    const Expr& place = left.expr;
    if (!is_comparison(op) || op == Operator::like) return false;
    if (place.kind != Expr::Kind::operand) return place.kind == Expr::Kind::field;
    return (place.operand == Operand::arg && !place.text.empty()) ||
           place.operand == Operand::retval;
  }

  // At a name that means nothing else, alone on its side of a comparison.
  bool at_enumerator() const {
    const std::string_view word = cursor_.here().text;
    if (!cursor_.at(Token::Kind::word) || operand_named(word) || operand_in_bpftrace(word))
      return false;
    if (is_of_path(word) || std::ranges::find(names_, word) != names_.end()) return false;
    const Token& after = cursor_.next();
    const auto op = after.kind == Token::Kind::op ? binary_operator(after.text) : std::nullopt;
    return after.kind != Token::Kind::open &&
           (!op || precedence_of(*op) < precedence_of(Operator::equal));
  }

  Result<Part> enumerator() {
    const Token token = cursor_.take();
    return counted(Expr::of_enumerator(std::string{token.text}, token.column));
  }

  std::optional<Operator> operator_here() const {
    if (!cursor_.at(Token::Kind::op)) return std::nullopt;
    return binary_operator(cursor_.here().text);
  }

  Status check_clear(const Token& token, Operator op, const Part& left, const Part& right) const {
    for (const Part* side : {&left, &right}) {
      bool bare = side->expr.kind == Expr::Kind::binary && !side->in_parentheses;
      if (bare && is_misleading(op, side->expr.op)) return misleading(token, op, side->expr.op);
    }
    return ok();
  }

  Error misleading(const Token& token, Operator op, Operator inner) const {
    const std::string outer_text{text_of(op)}, inner_text{text_of(inner)};
    if (is_comparison(op))
      return cursor_.error(token, "comparisons do not chain; join two with && or put parentheses");
    return cursor_.error(token, "put parentheses: (a " + outer_text + " b) " + inner_text +
                                    " c or a " + outer_text + " (b " + inner_text + " c)");
  }

  // All nesting passes through here.
  Result<Part> unary() {
    if (nesting_ == kMostNesting)
      return cursor_.error_here("an expression nests " + std::to_string(kMostNesting) +
                                " levels deep at most");
    nesting_++;
    auto part = unary_or_primary();
    nesting_--;
    return part;
  }

  Result<Part> unary_or_primary() {
    if (!cursor_.at(Token::Kind::op)) return primary();
    if (cursor_.here().text == text_of(Operator::multiply)) return dereferenced();
    auto op = unary_operator(cursor_.here().text);
    if (!op) return missing();
    const Token token = cursor_.take();
    auto child = unary();
    if (!child) return child;
    return counted(Expr::of_unary(*op, std::move(child->expr), token.column));
  }

  Result<Part> primary() {
    switch (cursor_.here().kind) {
      case Token::Kind::integer: return integer();
      case Token::Kind::text: return text();
      case Token::Kind::open: return parentheses();
      case Token::Kind::word: return name();
      default: return missing();
    }
  }

  Result<Part> integer() {
    const size_t column = cursor_.here().column;
    auto value = cursor_.integer("an integer");
    if (!value) return value.error();
    return counted(Expr::of_integer(*value, column));
  }

  Result<Part> text() {
    const size_t column = cursor_.here().column;
    auto value = cursor_.quoted("a text", Expr::kMostTextBytes);
    if (!value) return value.error();
    return counted(Expr::of_text(*std::move(value), column));
  }

  Result<Part> parentheses() {
    cursor_.take();
    auto inner = binary(kLoosest);
    if (!inner) return inner;
    if (Status closed = cursor_.expect(Token::Kind::close, "\")\""); !closed) return closed.error();
    return Part{std::move(inner->expr), true};
  }

  Result<Part> name() {
    const Token token = cursor_.here();
    if (is_field(token.text)) return field("", token.column);
    if (token.text == "str" || token.text == Expr::kCstr) return str();
    if (token.text == "hex") return hex();
    if (token.text == name_of(Operand::symbol)) return symbol();
    if (auto read = read_named(token.text)) return memory(*read);
    for (const std::string_view start : {kNamedArgument, kNamedArgumentInBpftrace})
      if (token.text.starts_with(start)) return argument_by_name(start);
    if (is_argument(token.text)) {
      cursor_.take();
      return argument(token, token.text);
    }
    auto operand = operand_named(token.text);
    if (!operand) operand = operand_in_bpftrace(token.text);
    if (!operand) return unknown(token);
    cursor_.take();
    if (*operand == Operand::stack) return stack(token);
    return counted(Expr::of_operand(*operand, 0, token.column));
  }

  // The canonical text of an argument or result, or of a field.
  static std::string path_of(std::string_view word) {
    if (!word.starts_with(kNamedArgumentInBpftrace)) return std::string{word};
    return std::string{kNamedArgument} += word.substr(kNamedArgumentInBpftrace.size());
  }

  // Whether it is an argument, result or variable, or a field of these.
  static bool is_of_path(std::string_view word) {
    return word.starts_with('(') || end_of_path_base(path_of(word)) > 0;
  }

  static bool is_field(std::string_view word) {
    if (word.starts_with('(')) return true;
    const std::string path = path_of(word);
    const size_t base = end_of_path_base(path);
    return base > 0 && (base < path.size() || path.starts_with(kVariable));
  }

  // *arg.p
  Result<Part> dereferenced() {
    const Token first = cursor_.here();
    std::string stars;
    for (; cursor_.at(Token::Kind::op) && cursor_.here().text == "*"; cursor_.take()) stars += '*';
    if (!cursor_.at(Token::Kind::word) || !is_of_path(cursor_.here().text))
      return cursor_.error(
          first, "* takes an argument or retval: *arg.p; u64(E) reads memory at any address");
    return field(stars, first.column);
  }

  // arg.p->a.b[3], *arg.p->q, var.n
  Result<Part> field(const std::string& stars, size_t column) {
    const Token token = cursor_.here();
    const std::string text = path_of(token.text);
    auto path = parse_field_path(stars + text);
    if (!path) return error_at(cursor_.text(), column, path.error().message);
    auto base = base_of_field(token, path->base);
    if (!base) return base;
    cursor_.take();
    return counted(Expr::of_field(std::move(path->text), std::move(base->expr), column));
  }

  Result<Part> base_of_field(const Token& token, std::string_view base) {
    if (base == name_of(Operand::retval))
      return counted(Expr::of_operand(Operand::retval, 0, token.column));
    if (base.starts_with(kVariable)) return counted(Expr::of_symbol("", token.column));
    if (!base.starts_with(kNamedArgument)) return argument(token, base);
    Expr named = Expr::of_operand(Operand::arg, 0, token.column);
    named.text = base.substr(kNamedArgument.size());
    return counted(std::move(named));
  }

  // stack or stack(N)
  Result<Part> stack(const Token& token) {
    uint64_t frames = kDefaultFrames;
    if (cursor_.take_if(Token::Kind::open)) {
      const Token at = cursor_.here();
      auto given = cursor_.integer("how many frames, an integer,");
      if (!given) return given.error();
      if (*given < 1 || *given > kMostFrames)
        return cursor_.error(at, "a stack has 1 to " + std::to_string(kMostFrames) + " frames");
      if (Status closed = cursor_.expect(Token::Kind::close, "\")\""); !closed)
        return closed.error();
      frames = *given;
    }
    return counted(Expr::of_operand(Operand::stack, frames, token.column));
  }

  Result<Part> argument_by_name(std::string_view start) {
    const Token token = cursor_.take();
    Expr named = Expr::of_operand(Operand::arg, 0, token.column);
    named.text = token.text.substr(start.size());
    return counted(std::move(named));
  }

  // `word` is argN.
  Result<Part> argument(const Token& token, std::string_view word) {
    const std::string_view digits = word.substr(3);
    unsigned index = TC_MAX_ARGS;
    auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    bool canonical = digits.size() == 1 || digits[0] != '0';
    if (failed != std::errc{} || index >= TC_MAX_ARGS || !canonical)
      return cursor_.error(token, "arguments are arg0 to arg" + std::to_string(TC_MAX_ARGS - 1));
    return counted(Expr::of_operand(Operand::arg, index, token.column));
  }

  static bool is_cstr(const Token& function) { return function.text == Expr::kCstr; }

  // Whether `libcxx` is the next word, and is allowed.
  bool is_libcxx(const Token& function) const {
    return is_cstr(function) && cursor_.at(Token::Kind::word) &&
           cursor_.here().text == Expr::kLibcxx;
  }

  // str(E), str(E, N) or str(E, LENGTH), and cstr likewise, whose last parameter can be libcxx
  Result<Part> str() {
    const Token token = cursor_.take();
    auto address = open_call(token);
    if (!address) return address;
    uint64_t most_bytes = Expr::kMostStrBytes;
    bool more = cursor_.take_if(Token::Kind::comma);
    if (more && !is_cstr(token) && !cursor_.at(Token::Kind::integer))
      return sized_str(token, std::move(address->expr));
    if (more && !is_libcxx(token)) {
      auto given = byte_count(token, "the most bytes, an integer");
      if (!given) return given.error();
      most_bytes = *given;
      more = is_cstr(token) && cursor_.take_if(Token::Kind::comma);
      if (more && !is_libcxx(token))
        return cursor_.error_here(
            "what follows here is libcxx, or nothing: cstr(arg0, 16, libcxx)");
    }
    if (more) cursor_.take();
    const auto make = more ? Expr::of_libcxx : is_cstr(token) ? Expr::of_cstr : Expr::of_str;
    return close_call(make(std::move(address->expr), most_bytes, token.column));
  }

  // str(E, LENGTH), behind the comma
  Result<Part> sized_str(const Token& function, Expr address) {
    auto length = binary(kLoosest);
    if (!length) return length;
    return close_call(
        Expr::of_sized_str(std::move(address), std::move(length->expr), function.column));
  }

  // hex(E, N)
  Result<Part> hex() {
    const Token token = cursor_.take();
    auto address = open_call(token);
    if (!address) return address;
    if (!cursor_.take_if(Token::Kind::comma))
      return cursor_.error_here("hex takes the number of bytes too: hex(arg0, 16)");
    auto bytes = byte_count(token, "the number of bytes, an integer");
    if (!bytes) return bytes.error();
    return close_call(Expr::of_hex(std::move(address->expr), *bytes, token.column));
  }

  // uaddr("NAME")
  Result<Part> symbol() {
    const Token token = cursor_.take();
    constexpr const char* kForm = "the name of a variable or function in quotes: uaddr(\"NAME\")";
    if (!cursor_.take_if(Token::Kind::open))
      return cursor_.error(token, "uaddr takes " + std::string{kForm});
    auto name = cursor_.quoted(kForm, Expr::kMostSymbolBytes);
    if (!name) return name.error();
    return close_call(Expr::of_symbol(*std::move(name), token.column));
  }

  Result<uint64_t> byte_count(const Token& function, const std::string& what) {
    const Token at = cursor_.here();
    auto given = cursor_.integer(what);
    if (given && (*given < 1 || *given > Expr::kMostStrBytes))
      return cursor_.error(at, std::string{function.text} + " takes 1 to " +
                                   std::to_string(Expr::kMostStrBytes) + " bytes");
    return given;
  }

  Result<Part> memory(Read read) {
    const Token token = cursor_.take();
    auto address = open_call(token);
    if (!address) return address;
    return close_call(Expr::of_read(read, std::move(address->expr), token.column));
  }

  // The parenthesis and the address after it.
  Result<Part> open_call(const Token& function) {
    if (!cursor_.take_if(Token::Kind::open)) {
      const std::string name{function.text};
      return cursor_.error(function, name + " takes an address in parentheses: " + name + "(arg0)");
    }
    return binary(kLoosest);
  }

  Result<Part> close_call(Expr call) {
    if (Status closed = cursor_.expect(Token::Kind::close, "\")\""); !closed) return closed.error();
    return counted(std::move(call));
  }

  Result<Part> counted(Expr expr) {
    if (++parts_ > kMostParts)
      return error_at(cursor_.text(), expr.column, "this expression is too long");
    return Part{std::move(expr)};
  }

  Error missing() const { return cursor_.unexpected("a value (" + std::string{kWords} + ")"); }

  Error unquoted(const Token& token) const {
    return cursor_.error(token, "strings are in double quotes: \"" + std::string{token.text} + '"');
  }

  Error unknown(const Token& token) const {
    const std::string name{token.text};
    const auto other =
        std::ranges::find(kOtherNames, token.text, [](const auto& one) { return one.first; });
    const std::string near =
        other != kOtherNames.end() ? std::string{other->second} : did_you_mean(name, names_);
    const std::string of_argument = "; an argument by its name is arg." + name;
    return cursor_.error(
        token, "unknown name \"" + name + "\": " + kWords + (near.empty() ? of_argument : near));
  }

  Cursor& cursor_;
  std::vector<std::string_view> names_;
  unsigned nesting_ = 0;
  unsigned parts_ = 0;
};

}  // namespace

Result<Expr> parse_expr(Cursor& cursor, std::span<const std::string_view> also) {
  return ExprParser{cursor, also}.parse();
}

}  // namespace tracectl
