// SPDX-License-Identifier: BSD-2-Clause
//
// libiberty reads this mangling, too, but without a limit for its work: a symbol of 20 bytes keeps it busy for years.
//
// Functions have the names of the rules in RFC 2603 and read what these describe. After a failure they read and print
// nothing.
#include "daemon/object/rust_names.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <utility>

#include "daemon/object/punycode.h"

namespace tracectl {
namespace {

constexpr size_t kMostRustNameBytes = 64 << 10;
constexpr size_t kMostRules = 64 << 10;  // that are applied to one symbol
constexpr size_t kDeepestRule = 256;

constexpr std::array<std::pair<char, std::string_view>, 21> kBasicTypes{{
    {'a', "i8"},   {'b', "bool"},  {'c', "char"},  {'d', "f64"}, {'e', "str"}, {'f', "f32"},
    {'h', "u8"},   {'i', "isize"}, {'j', "usize"}, {'l', "i32"}, {'m', "u32"}, {'n', "i128"},
    {'o', "u128"}, {'p', "_"},     {'s', "i16"},   {'t', "u16"}, {'u', "()"},  {'v', "..."},
    {'x', "i64"},  {'y', "u64"},   {'z', "!"},
}};

std::string_view basic_type(char letter) {
  for (const auto& [one, name] : kBasicTypes)
    if (one == letter) return name;
  return {};
}

class RustV0 {
 public:
  // `symbol` without the _R at its beginning.
  explicit RustV0(std::string_view symbol) : symbol_(symbol) {}

  std::optional<std::string> name() {
    path(true);
    if (!failed_ && at_ < symbol_.size())
      silently([&] { path(false); });  // the instantiating crate
    if (failed_ || at_ < symbol_.size()) return std::nullopt;
    return std::move(out_);
  }

 private:
  struct Identifier {
    uint64_t disambiguator = 0;
    std::string text = {};
  };

  // ---- reading and printing ----

  void fail() { failed_ = true; }
  char peek() const { return at_ < symbol_.size() ? symbol_[at_] : '\0'; }

  bool eat(char c) {
    if (failed_ || peek() != c) return false;
    ++at_;
    return true;
  }

  char next() {
    if (failed_ || at_ >= symbol_.size()) return fail(), '\0';
    return symbol_[at_++];
  }

  void print(std::string_view text) {
    if (failed_ || is_silent_) return;
    if (out_.size() + text.size() > kMostRustNameBytes) return fail();
    out_ += text;
  }

  template <class Rule> void silently(Rule rule) {
    const bool before = std::exchange(is_silent_, true);
    rule();
    is_silent_ = before;
  }

  // Applies a rule that can contain itself.
  template <class Rule> void nested(Rule rule) {
    if (failed_ || rules_ >= kMostRules || ++depth_ > kDeepestRule) return fail();
    ++rules_;
    rule();
    --depth_;
  }

  // What follows up to E.
  template <class Rule> size_t list(std::string_view separator, Rule rule) {
    size_t count = 0;
    for (; !failed_ && !eat('E'); ++count) {
      if (count > 0) print(separator);
      rule();
    }
    return count;
  }

  // ---- numbers ----

  // 0 is "_", n is n - 1 in digits, capitals last, and "_".
  uint64_t base_62_number() {
    constexpr uint64_t kDigits = 62, kLargest = UINT64_MAX / kDigits - 1;
    if (eat('_')) return 0;
    uint64_t number = 0;
    while (!failed_ && !eat('_')) {
      const char c = next();
      if (number > kLargest) fail();
      if (c >= '0' && c <= '9')
        number = number * kDigits + static_cast<uint64_t>(c - '0');
      else if (c >= 'a' && c <= 'z')
        number = number * kDigits + static_cast<uint64_t>(c - 'a') + 10;
      else if (c >= 'A' && c <= 'Z')
        number = number * kDigits + static_cast<uint64_t>(c - 'A') + 36;
      else
        fail();
    }
    return number + 1;
  }

  // 0 without the letter.
  uint64_t optional_number(char letter) { return eat(letter) ? base_62_number() + 1 : 0; }

  size_t decimal_number() {
    if (eat('0')) return 0;
    size_t number = 0;
    if (!std::isdigit(static_cast<unsigned char>(peek()))) fail();
    while (!failed_ && std::isdigit(static_cast<unsigned char>(peek()))) {
      number = number * 10 + static_cast<size_t>(next() - '0');
      if (number > symbol_.size()) fail();
    }
    return number;
  }

  // ---- names ----

  std::string undisambiguated_identifier() {
    const bool is_punycode = eat('u');
    const size_t size = decimal_number();
    eat('_');
    if (failed_ || size > symbol_.size() - at_) return fail(), std::string();
    const std::string_view bytes = symbol_.substr(at_, size);
    at_ += size;
    if (!is_punycode) return std::string(bytes);
    auto decoded = decode_punycode(bytes);
    if (!decoded) fail();
    return std::move(decoded).value_or("");
  }

  Identifier identifier() {
    Identifier one;
    one.disambiguator = optional_number('s');
    one.text = undisambiguated_identifier();
    return one;
  }

  // Applies the rule at a place before this one. Rules without a result are not repeated.
  template <class Rule> void backref(Rule rule) {
    const size_t here = at_ - 1;
    const uint64_t there = base_62_number();
    if (failed_ || there >= here) return fail();
    if (is_silent_) return;
    const size_t after = std::exchange(at_, static_cast<size_t>(there));
    rule();
    at_ = after;
  }

  // ---- paths ----

  // `in_value`: outside of types, where generic arguments have a :: before them.
  void path(bool in_value) {
    nested([&] {
      switch (next()) {
        case 'C': return print(identifier().text);
        case 'M': return impl_path(), print("<"), type(), print(">");
        case 'X': return impl_path(), type_as_trait();
        case 'Y': return type_as_trait();
        case 'N': return nested_path(in_value);
        case 'I': return generics_opened(in_value), print(">");
        case 'B': return backref([&] { path(in_value); });
        default: fail();
      }
    });
  }

  void impl_path() {
    silently([&] {
      optional_number('s');
      path(false);
    });
  }

  void type_as_trait() {
    print("<");
    type();
    print(" as ");
    path(false);
    print(">");
  }

  void nested_path(bool in_value) {
    const char space = next();
    path(in_value);
    const Identifier last = identifier();
    if (std::islower(static_cast<unsigned char>(space)))
      return last.text.empty() ? void() : print("::" + last.text);
    if (!std::isupper(static_cast<unsigned char>(space))) return fail();
    const std::string kind = space == 'C'   ? "closure"
                             : space == 'S' ? "shim"
                                            : std::string(1, space);
    print("::{" + kind + (last.text.empty() ? "" : ":") + last.text + "#" +
          std::to_string(last.disambiguator) + "}");
  }

  void generics_opened(bool in_value) {
    path(in_value);
    print(in_value ? "::<" : "<");
    list(", ", [&] { generic_argument(); });
  }

  void generic_argument() {
    if (eat('L')) return lifetime(base_62_number());
    if (eat('K')) return constant();
    type();
  }

  // ---- types ----

  void type() {
    nested([&] {
      const char letter = next();
      if (const auto basic = basic_type(letter); !basic.empty()) return print(basic);
      switch (letter) {
        case 'A': return print("["), type(), print("; "), constant(), print("]");
        case 'S': return print("["), type(), print("]");
        case 'T': return tuple();
        case 'R': return print("&"), reference();
        case 'Q': return print("&"), reference("mut ");
        case 'P': return print("*const "), type();
        case 'O': return print("*mut "), type();
        case 'F': return bound([&] { function(); });
        case 'D': return traits();
        case 'B': return backref([&] { type(); });
        default: break;
      }
      if (failed_) return;
      --at_;
      path(false);
    });
  }

  void tuple() {
    print("(");
    if (list(", ", [&] { type(); }) == 1) print(",");
    print(")");
  }

  void reference(std::string_view is_mutable = "") {
    if (eat('L'))
      if (const uint64_t index = base_62_number(); index > 0) lifetime(index), print(" ");
    print(is_mutable);
    type();
  }

  // Lifetimes of `for<'a, 'b>` have numbers within the rule only.
  template <class Rule> void bound(Rule rule) {
    const uint64_t count = optional_number('G'), before = lifetimes_;
    // Each costs as much as a rule.
    if (failed_ || count > kMostRules - rules_) return fail();
    rules_ += count;
    for (uint64_t one = 0; one < count; ++one) {
      print(one == 0 ? "for<" : ", ");
      ++lifetimes_;
      lifetime(1);
    }
    if (count > 0) print("> ");
    rule();
    lifetimes_ = before;
  }

  // 0 is one that is left out, 1 the innermost.
  void lifetime(uint64_t index) {
    constexpr uint64_t kLetters = 26;
    if (index > lifetimes_) return fail();
    const uint64_t outermost = lifetimes_ - index;
    if (index == 0)
      print("'_");
    else if (outermost < kLetters)
      print(std::string{'\'', static_cast<char>('a' + outermost)});
    else
      print("'_" + std::to_string(outermost));
  }

  void function() {
    if (eat('U')) print("unsafe ");
    if (eat('K')) print("extern \"" + abi() + "\" ");
    print("fn(");
    list(", ", [&] { type(); });
    print(")");
    if (eat('u')) return;
    print(" -> ");
    type();
  }

  std::string abi() {
    if (eat('C')) return "C";
    std::string name = undisambiguated_identifier();
    for (char& c : name)
      if (c == '_') c = '-';
    return name;
  }

  void traits() {
    print("dyn ");
    bound([&] { list(" + ", [&] { trait(); }); });
    if (!eat('L')) return fail();
    if (const uint64_t index = base_62_number(); index > 0) print(" + "), lifetime(index);
  }

  // Trait<Argument, Type = Bound>
  void trait() {
    bool is_open = opened_path();
    while (eat('p')) {
      print(std::exchange(is_open, true) ? ", " : "<");
      print(undisambiguated_identifier() + " = ");
      type();
    }
    if (is_open) print(">");
  }

  // Whether it ends in generic arguments without their >.
  bool opened_path() {
    bool is_open = false;
    nested([&] {
      if (eat('B'))
        backref([&] { is_open = opened_path(); });
      else if (eat('I'))
        generics_opened(false), is_open = true;
      else
        path(false);
    });
    return is_open;
  }

  // ---- constants ----

  void constant() {
    nested([&] {
      const char type = next();
      if (type == 'B') return backref([&] { constant(); });
      if (type == 'p') return print("_");
      const bool is_signed = std::string_view("aslxni").find(type) != std::string_view::npos;
      const bool is_integer = std::string_view("htmyoj").find(type) != std::string_view::npos;
      if (is_signed && eat('n')) print("-");
      const std::string_view digits = hexadecimal();
      if (is_signed || is_integer) return print(integer(digits));
      if (digits.size() > 8) return fail();
      if (type == 'b') return truth(number_of(digits));
      if (type == 'c') return character(number_of(digits));
      fail();
    });
  }

  std::string_view hexadecimal() {
    const size_t begin = at_;
    while (!failed_ && !eat('_'))
      if (const char c = next(); !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) fail();
    return failed_ ? std::string_view() : symbol_.substr(begin, at_ - 1 - begin);
  }

  static uint64_t number_of(std::string_view digits) {
    uint64_t number = 0;
    for (const char c : digits)
      number = number << 4 | static_cast<uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    return number;
  }

  static std::string integer(std::string_view digits) {
    return digits.size() > 16 ? "0x" + std::string(digits) : std::to_string(number_of(digits));
  }

  void truth(uint64_t number) {
    if (number > 1) return fail();
    print(number ? "true" : "false");
  }

  void character(uint64_t number) {
    constexpr uint64_t kLast = 0x10ffff;
    if (number > kLast) return fail();
    const auto quoted = [&](const std::string& text) { print("'" + text + "'"); };
    const char c = static_cast<char>(number);
    if (number == '\t') return quoted("\\t");
    if (number == '\n') return quoted("\\n");
    if (number == '\r') return quoted("\\r");
    if (number == '\'' || number == '\\') return quoted({'\\', c});
    if (number >= ' ' && number <= '~') return quoted({c});
    std::array<char, 6> digits{};
    char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
    quoted("\\u{" + std::string(digits.data(), end) + "}");
  }

  std::string_view symbol_;
  size_t at_ = 0;
  size_t depth_ = 0, rules_ = 0;
  uint64_t lifetimes_ = 0;  // that are bound here
  bool is_silent_ = false;
  bool failed_ = false;
  std::string out_;
};

}  // namespace

std::optional<std::string> demangle_rust_v0(std::string_view symbol) {
  constexpr std::string_view kBegin = "_R";
  if (!symbol.starts_with(kBegin)) return std::nullopt;
  symbol.remove_prefix(kBegin.size());
  // What a compiler appends: ".llvm.123".
  return RustV0(symbol.substr(0, symbol.find_first_of(".$"))).name();
}

}  // namespace tracectl
