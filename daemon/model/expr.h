// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracectl {

enum class Operator : uint8_t {
  logical_or,
  logical_and,
  bit_or,
  bit_xor,
  bit_and,
  equal,
  not_equal,
  like,  // =~
  less,
  less_equal,
  greater,
  greater_equal,
  shift_left,
  shift_right,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  logical_not,
  bit_not,
  negate,
};

// Operands from `retval` on are known when a call returns, not when it begins.
enum class Operand : uint8_t {
  arg,
  symbol,  // the address of a variable or function of the probe's file
  pid,
  tid,
  uid,
  cpu,
  comm,
  cgroup,
  ts,
  stack_bytes,  // used bytes of the stack that the thread began on; at the hit only
  tag,
  container,
  unit,
  stack,   // by frame pointers; `number` is the maximum of frames
  caller,  // the address that the function returns to
  path,    // of a graph's call: the calls around it
  retval,
  duration,
  thrown,  // whether a call ended without returning
  blocked,  // the part of a call's duration in which its thread waited for something else than a CPU,
  runnable,  //   and that in which it waited for a CPU
  block,     // for how long a thread was blocked within a call; only as the value of a sum
};

// The types that can be read from the program's memory.
enum class Read : uint8_t { s8, u8, s16, u16, s32, u32, s64, u64 };

// An expression of a condition, a value or a key.
struct Expr {
  enum class Kind : uint8_t {
    integer,
    text,
    operand,
    field,
    enumerator,  // the right side of a comparison
    str,
    hex,
    read,
    unary,
    binary
  };

  static constexpr uint64_t kMostStrBytes = 64;
  static constexpr size_t kMostTextBytes = 63;
  static constexpr size_t kMostSymbolBytes = 1024;
  static constexpr uint64_t kNoSymbol = UINT64_MAX;
  static constexpr uint64_t kSignedResult = 1 << 7;
  static constexpr const char* kCstr = "cstr";
  static constexpr const char* kLibcxx = "libcxx";

  Kind kind = Kind::integer;
  Operator op = Operator::add;     // unary and binary
  Operand operand = Operand::arg;  // operand
  Read read = Read::u64;           // read
  // integer: its value; arg: its index; stack: the most frames; str: the most bytes; hex: the
  // number of bytes, 1 to kMostStrBytes; retval: its size in bytes and kSignedResult, or 0 until a
  // site is known (spec/names.h); enumerator: its value, likewise; field: the size of a float in bytes, likewise, else 0
  uint64_t number = 0;
  // text: at most kMostTextBytes, none of them 0. arg: its name, if it is given by name; `number`
  // is then 0 until a site is known (spec/names.h). symbol: its name; `number`
  // is then its place behind the arguments, or kNoSymbol. str: kCstr or kLibcxx if it was written as
  // such. field: its path. enumerator: its name.
  std::string text = {};
  // str, hex and read: the address; str: then its length, if it is an expression. field: the argument or result that its path begins with,
  // or a symbol without a name, which stands for the place of a variable; before it,
  // once a site is known, the loads that compute its value (spec/fields.h).
  std::vector<Expr> children = {};
  size_t column = 0;  // in the source text, for a caret; for binary: the operator's

  // Compares meanings, not columns.
  bool operator==(const Expr& other) const;

  static Expr of_integer(uint64_t value, size_t column = 0);
  static Expr of_text(std::string text, size_t column = 0);
  static Expr of_symbol(std::string name, size_t column = 0);
  static Expr of_operand(Operand operand, uint64_t index = 0, size_t column = 0);
  static Expr of_field(std::string path, Expr base, size_t column = 0);
  static Expr of_enumerator(std::string name, size_t column = 0);
  static Expr of_str(Expr address, uint64_t most_bytes, size_t column = 0);
  // The second child of the expression is the length in bytes, of which kMostStrBytes count at most.
  static Expr of_sized_str(Expr address, Expr length, size_t column = 0);
  // The characters of a std::string of libstdc++, like c_str(): its first member is a pointer to
  // them, so this is another name for str(u64(address)).
  static Expr of_cstr(Expr address, uint64_t most_bytes, size_t column = 0);
  // The same for a std::string of libc++ (ABI 1, little endian). The lowest bit of its first byte
  // says whether the characters are inside it, after that byte, or at the address in its third
  // word.
  static Expr of_libcxx(Expr address, uint64_t most_bytes, size_t column = 0);
  // That many bytes of memory, of any value.
  static Expr of_hex(Expr address, uint64_t bytes, size_t column = 0);
  static Expr of_read(Read read, Expr address, size_t column = 0);
  static Expr of_unary(Operator op, Expr child, size_t column = 0);
  static Expr of_binary(Operator op, Expr left, Expr right, size_t column = 0);
};

// The str() that computes the field if that is a text, else the expression itself.
const Expr& loads_of_text(const Expr& expr);
// Whether it is the name of an argument, a result or a field, of which only the site knows whether it is a text.
bool may_be_text(const Expr& expr);

// The canonical text, with only the necessary parentheses. It parses to an equal expression.
std::string to_string(const Expr& expr);

// The column of `part`, an expression within `whole`, in to_string(whole).
size_t column_of(const Expr& part, const Expr& whole);

// "text" with \", \\, \n, \t and \xHH, as in expressions.
std::string quoted_text(std::string_view text);

// The words of the language. For `arg` the name includes no index.
std::string_view name_of(Operand operand);
std::string_view name_of(Read read);
std::optional<Operand> operand_named(std::string_view name);  // never `arg` or `symbol`
std::optional<Read> read_named(std::string_view name);

// A greater value binds tighter, as in C. Binary operators only.
unsigned precedence_of(Operator op);
std::string_view text_of(Operator op);
std::optional<Operator> binary_operator(std::string_view text);
std::optional<Operator> unary_operator(std::string_view text);

bool is_comparison(Operator op);
// Whether the two operators, one within the other, need parentheses although C has a rule: `a & b
// == c` and `a < b < c` are easily misread.
bool is_misleading(Operator outer, Operator inner);

}  // namespace tracectl
