// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/model/register.h"

namespace tracectl {

struct Enumerator {
  std::string name;
  int64_t value = 0;

  bool operator==(const Enumerator&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("value", s.value);
  }
};
using Enumerators = std::vector<Enumerator>;
inline constexpr size_t kMostEnumerators = 256;  // of a type: its first ones

struct Member;
using Members = std::vector<Member>;

struct ReachedField;
using ReachedFields = std::vector<ReachedField>;

// The place of one value when a probe is hit, and its type: an argument of the probe, or the result of a function at
// its return.
struct Argument {
  enum class Place : uint8_t {
    unreadable,  // nowhere that programs can read (an SSE register, say); the probe still works
    constant,    // `offset` is the value
    in_register,
    memory,   // at base + index * scale + offset
    nothing,  // there is no value: the result of a function that returns `void`
    symbol,   // the address of the symbol `name`, base + offset; not an argument
  };

  // How the value is shown to users.
  enum class Kind : uint8_t {
    integer,  // a floating-point number if `is_float`
    boolean,
    character,
    enumeration,
    pointer,
    text,       // the address of a C string
    aggregate,  // not a single number: unreadable, except a result with `members`
  };

  Place place = Place::unreadable;
  Kind kind = Kind::integer;
  uint8_t size_bytes = 8;  // 1, 2, 4 or 8
  bool is_signed = false;
  bool is_float = false;          // the bits of a float or double
  bool high_byte = false;         // %ah, %bh, %ch, %dh: bits 8 to 15 of the register
  bool is_string = false;         // a value of an event: the bits are an index into its strings
  bool is_shown_as_text = false;  // an event shows the text at the address, not the address
  bool length_behind = false;     // for such a text: the next argument is its length in bytes
  uint8_t byte_count = 0;         // for a string that shows so many bytes of memory in hex
  bool link_relative = false;     // memory: `offset` is an address in the file's own address space
  Register base = Register::none;
  Register index = Register::none;
  uint8_t scale = 1;  // 1, 2, 4 or 8
  int64_t offset = 0;
  std::string text = {};           // the argument as in the note, or why it is unreadable
  std::string name = {};           // of the parameter; empty if not known
  std::string declared_type = {};  // in C: `unsigned int`, `enum color`; empty if not known
  std::shared_ptr<const Enumerators> enumerators = {};  // of an enumeration, shared by its users
  std::shared_ptr<const Members> members = {};          // of a result that is a struct in registers
  std::shared_ptr<const ReachedFields> asked_fields = {};  // that are reached from it, as asked for

  bool operator==(const Argument&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("place", s.place);
    f("kind", s.kind);
    f("size_bytes", s.size_bytes);
    f("is_signed", s.is_signed);
    f("is_float", s.is_float);
    f("high_byte", s.high_byte);
    f("is_string", s.is_string);
    f("is_shown_as_text", s.is_shown_as_text);
    f("length_behind", s.length_behind);
    f("byte_count", s.byte_count);
    f("link_relative", s.link_relative);
    f("base", s.base);
    f("index", s.index);
    f("scale", s.scale);
    f("offset", s.offset);
    f("text", s.text);
    f("name", s.name);
    f("declared_type", s.declared_type);
    f("enumerators", s.enumerators);
    f("members", s.members);
    f("asked_fields", s.asked_fields);
  }
};

// Bits of one byte of an object.
struct BitsOfByte {
  uint64_t at = 0;  // bytes from the object's start
  uint8_t first_bit = 0;
  uint8_t bit_count = 8;

  bool operator==(const BitsOfByte&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("at", s.at);
    f("first_bit", s.first_bit);
    f("bit_count", s.bit_count);
  }
};

// Where a string of libc++ has its text while that is short: in itself.
struct ShortText {
  BitsOfByte is_long;  // 1: the text is elsewhere
  BitsOfByte length;
  uint64_t text_at = 0;

  bool operator==(const ShortText&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("is_long", s.is_long);
    f("length", s.length);
    f("text_at", s.text_at);
  }
};

// Where an object that is a text, as a std::string, has the pointer to its characters and their number, each of 8 bytes:
// bytes from the object's start.
struct TextPlace {
  uint64_t pointer_at = 0;
  uint64_t length_at = 0;
  std::optional<ShortText> when_short = {};

  bool operator==(const TextPlace&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("pointer_at", s.pointer_at);
    f("length_at", s.length_at);
    f("when_short", s.when_short);
  }
};

// A field that a path of an expression leads to, from an argument or a result. Its address: add the first of `offsets`
// to the value of that, read a pointer there, add the next one, and so on; the last sum is the address. A text without
// offsets is in two operands: the pointer, and behind it the length.
struct ReachedField {
  std::string path;  // as FieldPath::text
  std::vector<uint64_t> offsets = {};
  bool is_address = false;  // an array: its address is the value
  Argument type = {};     // of the value in memory; of a bit field: of the integer that contains it
  uint8_t first_bit = 0;  // of a bit field, in that integer; little endian
  uint8_t bit_count = 0;  // 0: it is no bit field
  std::optional<TextPlace> text = {};  // of an object that is a text, which is at the address
  std::string why_not =
      {};             // there is no such field, or no value; `offsets` and `type` mean nothing then
  size_t column = 0;  // of the part of `path` that is wrong

  bool operator==(const ReachedField&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("path", s.path);
    f("offsets", s.offsets);
    f("is_address", s.is_address);
    f("type", s.type);
    f("first_bit", s.first_bit);
    f("bit_count", s.bit_count);
    f("text", s.text);
    f("why_not", s.why_not);
    f("column", s.column);
  }
};

// A member of a struct that a function returns in registers.
struct Member {
  std::string name;       // with those around it: `at.x`, `all[1]`
  Argument type = {};     // unreadable if the member is in no register that a trap has
  uint8_t first_bit = 0;  // of kResult, or from 64 on of kSecondResult
  uint8_t bit_count = 0;

  bool operator==(const Member&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("type", s.type);
    f("first_bit", s.first_bit);
    f("bit_count", s.bit_count);
  }
};

constexpr Argument::Place last_of(Argument::Place) { return Argument::Place::symbol; }
constexpr Argument::Kind last_of(Argument::Kind) { return Argument::Kind::aggregate; }

using Arguments = std::vector<Argument>;

// How many arguments and symbols expressions can use at a site.
inline constexpr size_t kMostOperands = 12;

inline bool is_readable(const Argument& argument) {
  return argument.place != Argument::Place::unreadable &&
         argument.place != Argument::Place::nothing;
}

// The register that results are in, for a function whose type is not known: nothing says that it is the result. Its
// name is the register's; results of known types have no name.
Argument bare_register(std::string name);
inline bool is_bare_register(const Argument& result) {
  return result.place == Argument::Place::in_register && !result.name.empty();
}

// The type as listed to users: s32, u64, f64; of what is no single number, the declared type.
std::string type_name(const Argument& argument);

// How the value is shown to users: "integer", "float", "enumeration"..., "void" if there is none.
const char* kind_name(const Argument& argument);

// How many are arguments of the probe. Behind them there can be the addresses of symbols.
size_t count_of_probe(const Arguments& arguments);

// The index of the argument with this name (not `arg0`); none if there is none.
std::optional<size_t> index_of(const Arguments& arguments, std::string_view name);
// The index of the address of the symbol with this name.
std::optional<size_t> index_of_symbol(const Arguments& arguments, std::string_view name);

// The enumerator of an enumeration's value; nullptr if none has it.
const Enumerator* find_enumerator(const Argument& argument, int64_t value);

}  // namespace tracectl
