// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <optional>
#include <string_view>

#include "usdt/generator/token_reader.h"
#include "usdt/generator/types.h"

namespace tracectl::generator {

// A declaration in C, as far as argument types need it: a type, and a name.
struct Declarator {
  Type type;
  std::optional<Token> name;
};

// Reads declarations in C, and remembers typedefs.
class Declarations {
 public:
  explicit Declarations(TokenReader& reader) : reader_(reader) {}

  // Reads a declaration between providers: stores a typedef, and skips all others.
  Status take_outer();

  // Reads TYPE [NAME] of an argument.
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
