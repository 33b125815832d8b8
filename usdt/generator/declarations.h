// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "usdt/generator/token_reader.h"
#include "usdt/generator/types.h"

namespace tracectl::generator {

// A declaration of C as far as types of arguments need it: what a type is called, and a name.
struct Declarator {
  Type type;
  std::optional<Token> name;
};

// Reads declarations of C, and knows the typedefs it has seen.
class Declarations {
 public:
  explicit Declarations(TokenReader& reader) : reader_(reader) {}

  // What stands between providers: typedefs are kept in mind, all else is stepped over.
  Status take_outer();

  // TYPE [NAME] of an argument.
  Result<Declarator> read_argument();

 private:
  Result<Type> read_base();
  Result<Type> read_specifier();
  Type read_basic();
  Result<Type> read_tagged();
  Type named(const Token& name) const;
  bool take_qualifiers();
  void read_pointers(Type& type);
  Status read_arrays(Type& type);
  Status take_typedef();
  void skip_attributes();
  Status skip_to_end();

  TokenReader& reader_;
  std::map<std::string_view, Type> typedefs_;
};

}  // namespace tracectl::generator
