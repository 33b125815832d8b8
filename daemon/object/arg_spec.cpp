// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/arg_spec.h"

#include <array>
#include <charconv>
#include <limits>

namespace tracectl {
namespace {

struct RegisterName {
  std::string_view name;
  Register reg;
  uint8_t size_bytes;
  bool high_byte = false;
};

// All names of all general registers of x86-64 (Intel SDM volume 1, 3.4.1).
constexpr std::array kRegisterNames{
    RegisterName{"rax", Register::rax, 8},      RegisterName{"eax", Register::rax, 4},
    RegisterName{"ax", Register::rax, 2},       RegisterName{"al", Register::rax, 1},
    RegisterName{"ah", Register::rax, 1, true}, RegisterName{"rcx", Register::rcx, 8},
    RegisterName{"ecx", Register::rcx, 4},      RegisterName{"cx", Register::rcx, 2},
    RegisterName{"cl", Register::rcx, 1},       RegisterName{"ch", Register::rcx, 1, true},
    RegisterName{"rdx", Register::rdx, 8},      RegisterName{"edx", Register::rdx, 4},
    RegisterName{"dx", Register::rdx, 2},       RegisterName{"dl", Register::rdx, 1},
    RegisterName{"dh", Register::rdx, 1, true}, RegisterName{"rbx", Register::rbx, 8},
    RegisterName{"ebx", Register::rbx, 4},      RegisterName{"bx", Register::rbx, 2},
    RegisterName{"bl", Register::rbx, 1},       RegisterName{"bh", Register::rbx, 1, true},
    RegisterName{"rsp", Register::rsp, 8},      RegisterName{"esp", Register::rsp, 4},
    RegisterName{"sp", Register::rsp, 2},       RegisterName{"spl", Register::rsp, 1},
    RegisterName{"rbp", Register::rbp, 8},      RegisterName{"ebp", Register::rbp, 4},
    RegisterName{"bp", Register::rbp, 2},       RegisterName{"bpl", Register::rbp, 1},
    RegisterName{"rsi", Register::rsi, 8},      RegisterName{"esi", Register::rsi, 4},
    RegisterName{"si", Register::rsi, 2},       RegisterName{"sil", Register::rsi, 1},
    RegisterName{"rdi", Register::rdi, 8},      RegisterName{"edi", Register::rdi, 4},
    RegisterName{"di", Register::rdi, 2},       RegisterName{"dil", Register::rdi, 1},
};

// r8 to r15 with the suffixes b, w, d.
std::optional<RegisterName> numbered_register(std::string_view name) {
  if (name.size() < 2 || name[0] != 'r') return std::nullopt;
  unsigned number = 0;
  const auto [end, err] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (err != std::errc{} || number < 8 || number > 15) return std::nullopt;
  const std::string_view suffix{end, static_cast<size_t>(name.data() + name.size() - end)};
  const uint8_t size = suffix.empty()  ? 8
                       : suffix == "d" ? 4
                       : suffix == "w" ? 2
                       : suffix == "b" ? 1
                                       : 0;
  if (size == 0) return std::nullopt;
  return RegisterName{name, static_cast<Register>(number), size};
}

std::optional<RegisterName> find_register(std::string_view name) {
  for (const RegisterName& entry : kRegisterNames)
    if (entry.name == name) return entry;
  if (name == "rip") return RegisterName{name, Register::rip, 8};
  return numbered_register(name);
}

// Parses one operand from left to right.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  char peek() const { return text_.empty() ? '\0' : text_.front(); }
  bool skip(char c) {
    if (peek() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  // A decimal or 0x number with an optional sign; wraps to 64 bits like the assembler.
  std::optional<int64_t> number() {
    std::string_view rest = text_;
    const bool negative = !rest.empty() && rest.front() == '-';
    if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
    const bool hex = rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X');
    if (hex) rest.remove_prefix(2);
    uint64_t value = 0;
    const auto [end, err] =
        std::from_chars(rest.data(), rest.data() + rest.size(), value, hex ? 16 : 10);
    if (err != std::errc{}) return std::nullopt;
    text_ = rest.substr(static_cast<size_t>(end - rest.data()));
    return static_cast<int64_t>(negative ? uint64_t{0} - value : value);
  }

  // A register with its %, or a symbol's name.
  std::string_view word() {
    size_t length = 0;
    while (length < text_.size() && is_word(text_[length])) ++length;
    const std::string_view word = text_.substr(0, length);
    text_.remove_prefix(length);
    return word;
  }

  std::optional<RegisterName> reg() {
    if (!skip('%')) return std::nullopt;
    return find_register(word());
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$' || c == '@';
  }

  std::string_view text_;
};

// Parses one argument; each step returns whether it matched.
class ArgumentReader {
 public:
  ArgumentReader(std::string_view text, const SymbolLookup& symbol)
      : cursor_(text), symbol_(symbol) {
    argument_.text = text;
  }

  Argument read() {
    explicit_size_ = text_has_size();
    if (explicit_size_ && !read_size()) return unreadable();
    if (!read_operand() || !cursor_.at_end()) return unreadable();
    return argument_;
  }

 private:
  Argument unreadable() {
    argument_.place = Argument::Place::unreadable;
    return argument_;
  }

  bool text_has_size() const {
    const size_t at = argument_.text.find('@');
    return at != std::string::npos && at > 0 &&
           argument_.text.find_first_not_of("-0123456789f") == at;
  }

  bool read_size() {
    const auto size = cursor_.number();
    if (!size) return false;
    argument_.is_float = cursor_.skip('f');
    argument_.is_signed = *size < 0;
    const uint64_t bytes =
        *size < 0 ? uint64_t{0} - static_cast<uint64_t>(*size) : static_cast<uint64_t>(*size);
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return false;
    argument_.size_bytes = static_cast<uint8_t>(bytes);
    return cursor_.skip('@');
  }

  bool read_operand() {
    if (cursor_.skip('$')) return read_constant();
    if (cursor_.peek() == '%') return read_register();
    return read_memory();
  }

  bool read_constant() {
    const auto value = cursor_.number();
    if (!value) return false;
    argument_.place = Argument::Place::constant;
    argument_.offset = *value;
    return true;
  }

  bool read_register() {
    const auto reg = cursor_.reg();
    if (!reg) return false;
    argument_.place = Argument::Place::in_register;
    argument_.base = reg->reg;
    argument_.high_byte = reg->high_byte;
    if (!explicit_size_) argument_.size_bytes = reg->size_bytes;
    return true;
  }

  // DISPLACEMENT(BASE,INDEX,SCALE), each part optional; the displacement is a sum of numbers and
  // at most one symbol.
  bool read_memory() {
    if (cursor_.at_end()) return false;
    argument_.place = Argument::Place::memory;
    std::string_view symbol;
    if (!read_displacement(symbol)) return false;
    if (cursor_.skip('(') && !read_inside()) return false;
    return symbol.empty() ? argument_.base != Register::rip : resolve(symbol);
  }

  bool read_displacement(std::string_view& symbol) {
    while (!cursor_.at_end() && cursor_.peek() != '(') {
      if (const auto number = cursor_.number()) {
        argument_.offset = static_cast<int64_t>(static_cast<uint64_t>(argument_.offset) +
                                                static_cast<uint64_t>(*number));
        continue;
      }
      cursor_.skip('+');
      const std::string_view word = cursor_.word();
      if (word.empty() || !symbol.empty()) return false;
      symbol = word;
    }
    return true;
  }

  bool read_inside() {
    if (cursor_.peek() == '%') {
      const auto base = cursor_.reg();
      if (!base) return false;
      argument_.base = base->reg;
    }
    if (cursor_.skip(',')) {
      const auto index = cursor_.reg();
      if (!index || index->reg == Register::rip) return false;
      argument_.index = index->reg;
      if (cursor_.skip(',') && !read_scale()) return false;
    }
    return cursor_.skip(')');
  }

  bool read_scale() {
    const auto scale = cursor_.number();
    if (!scale || (*scale != 1 && *scale != 2 && *scale != 4 && *scale != 8)) return false;
    argument_.scale = static_cast<uint8_t>(*scale);
    return true;
  }

  // Replaces a symbol by its address, relative to the instruction pointer or not.
  bool resolve(std::string_view symbol) {
    const auto address = symbol_(symbol);
    if (!address) return false;
    if (argument_.base == Register::rip) argument_.base = Register::none;
    argument_.link_relative = true;
    argument_.offset = static_cast<int64_t>(static_cast<uint64_t>(argument_.offset) + *address);
    return true;
  }

  Cursor cursor_;
  const SymbolLookup& symbol_;
  Argument argument_;
  bool explicit_size_ = false;
};

}  // namespace

Arguments parse_arguments(std::string_view text, const SymbolLookup& symbol) {
  Arguments arguments;
  while (arguments.size() < kMostArguments) {
    const size_t start = text.find_first_not_of(" \t");
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    const size_t end = std::min(text.find_first_of(" \t"), text.size());
    arguments.push_back(ArgumentReader(text.substr(0, end), symbol).read());
    text.remove_prefix(end);
  }
  return arguments;
}

}  // namespace tracectl
