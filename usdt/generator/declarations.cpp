// SPDX-License-Identifier: BSD-2-Clause
#include "usdt/generator/declarations.h"

#include <algorithm>
#include <array>

namespace tracectl::generator {
namespace {

template <size_t N> bool is_one_of(const Token& token, const std::array<std::string_view, N>& of) {
  return std::any_of(of.begin(), of.end(), [&](std::string_view one) { return token.is(one); });
}

constexpr std::array<std::string_view, 10> kBasic{"void",  "char",   "short",  "int",      "long",
                                                  "float", "double", "signed", "unsigned", "_Bool"};
constexpr std::array<std::string_view, 6> kQualifiers{"const",   "volatile",   "restrict",
                                                      "__const", "__restrict", "userland"};
// The words with which a declaration outside of providers may begin, including those of D.
constexpr std::array<std::string_view, 10> kOuter{"struct", "union",        "enum",  "extern",
                                                  "static", "inline",       "const", "translator",
                                                  "import", "__extension__"};
constexpr std::array<std::string_view, 3> kTagged{"struct", "union", "enum"};

}  // namespace

Result<Declarator> Declarations::read_argument() {
  auto base = read_base();
  if (!base) return base.error();
  Declarator read{std::move(*base), std::nullopt};
  read_pointers(read.type);
  if (reader_.peek().is("("))
    return reader_.error("a probe takes no pointer to a function by its type; declare void *");
  if (reader_.peek().kind == Token::Kind::word) read.name = reader_.take();
  if (auto arrays = read_arrays(read.type); !arrays) return arrays.error();
  if (read.type.pointers > kMostPointers) return reader_.error("too many pointers to pointers");
  return read;
}

// Qualifiers may stand before and after the type's name.
Result<Type> Declarations::read_base() {
  bool is_const = take_qualifiers();
  auto type = read_specifier();
  if (!type) return type;
  is_const |= take_qualifiers();
  if (type->pointers == 0) type->is_const |= is_const;
  return type;
}

// Returns whether const is among them.
bool Declarations::take_qualifiers() {
  bool is_const = false;
  while (is_one_of(reader_.peek(), kQualifiers)) {
    const Token& taken = reader_.take();
    is_const |= taken.is("const") || taken.is("__const");
  }
  return is_const;
}

Result<Type> Declarations::read_specifier() {
  const Token& token = reader_.peek();
  if (is_one_of(token, kTagged)) return read_tagged();
  if (is_one_of(token, kBasic)) return read_basic();
  if (token.kind != Token::Kind::word) return reader_.unexpected("the type of an argument");
  return named(reader_.take());
}

Type Declarations::read_basic() {
  Type type;
  while (is_one_of(reader_.peek(), kBasic)) {
    if (!type.name.empty()) type.name += ' ';
    type.name += reader_.take().text;
    type.is_const |= take_qualifiers();
  }
  return type;
}

// struct NAME, struct NAME {...} or struct {...}.
Result<Type> Declarations::read_tagged() {
  const Token& keyword = reader_.take();
  Type type;
  type.base = keyword.is("enum") ? Type::Base::enumeration : Type::Base::structure;
  skip_attributes();
  if (reader_.peek().kind == Token::Kind::word)
    type.name = std::string{keyword.text} + " " + std::string{reader_.take().text};
  if (reader_.peek().is("{")) {
    if (auto skipped = reader_.skip_nested(); !skipped) return skipped.error();
  } else if (type.name.empty()) {
    return reader_.unexpected("the name of this " + std::string{keyword.text});
  }
  return type;
}

// A typedef of the file takes precedence over a type of D with that name.
Type Declarations::named(const Token& name) const {
  const auto known = typedefs_.find(name.text);
  if (known != typedefs_.end()) return known->second;
  if (auto type = type_of_d(name.text)) return *type;
  Type type;
  type.name = name.text;
  return type;
}

void Declarations::read_pointers(Type& type) {
  while (reader_.take_if("*")) {
    type.pointers++;
    take_qualifiers();
  }
}

// An array is passed as a pointer.
Status Declarations::read_arrays(Type& type) {
  while (reader_.take_if("[")) {
    type.pointers++;
    while (!reader_.take_if("]")) {
      const Token& token = reader_.peek();
      if (reader_.is_at_end() || token.is(")") || token.is(";")) return reader_.unexpected("\"]\"");
      reader_.take();
    }
  }
  return ok();
}

void Declarations::skip_attributes() {
  while (reader_.peek().is("__attribute__")) {
    reader_.take();
    if (!reader_.peek().is("(") || !reader_.skip_nested()) return;
  }
}

// ---- outside of providers ----

Status Declarations::take_outer() {
  const Token& first = reader_.peek();
  if (first.is(";")) return reader_.take(), ok();
  if (first.is("typedef")) return take_typedef();
  if (!reader_.is_in_included_file() && !is_one_of(first, kOuter))
    return reader_.unexpected("\"provider\" or a declaration");
  return skip_to_end();
}

// Typedefs of forms that argument types cannot have, such as pointers to functions, are not stored:
// their names stay as they are. So do the names from the system's headers, which every C file can
// use.
Status Declarations::take_typedef() {
  const bool is_kept = !reader_.is_in_included_file() || !reader_.file().is_system;
  reader_.take();
  skip_attributes();
  auto base = read_base();
  if (!base) return base.error();
  do {
    Type type = *base;
    read_pointers(type);
    if (reader_.peek().kind != Token::Kind::word) break;
    const Token& name = reader_.take();
    if (auto arrays = read_arrays(type); !arrays) return arrays;
    const bool is_whole = reader_.peek().is(",") || reader_.peek().is(";");
    const bool is_known = header_of(name.text) || type.pointers > kMostPointers;
    if (is_kept && is_whole && !is_known) typedefs_[name.text] = type;
  } while (reader_.take_if(","));
  return skip_to_end();
}

// Skips to the semicolon, or past the body of a function.
Status Declarations::skip_to_end() {
  const Token& first = reader_.peek();
  bool is_behind_parentheses = false;
  while (!reader_.take_if(";")) {
    const Token& token = reader_.peek();
    if (reader_.is_at_end())
      return reader_.error(first, "this declaration is never ended by a \";\"");
    const bool is_nested = token.is("(") || token.is("{") || token.is("[");
    if (!is_nested) {
      reader_.take();
    } else if (auto skipped = reader_.skip_nested(); !skipped) {
      return skipped;
    }
    if (token.is("{") && is_behind_parentheses) return ok();
    is_behind_parentheses = token.is("(");
  }
  return ok();
}

}  // namespace tracectl::generator
