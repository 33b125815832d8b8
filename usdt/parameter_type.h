// SPDX-License-Identifier: BSD-2-Clause
//
// What DWARF says of the type of a parameter or a result: how its value is read, shown and passed.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "daemon/model/argument.h"
#include "usdt/calling_convention.h"
#include "usdt/die.h"

namespace tracectl {

struct ParameterType {
  Argument value;  // kind, size, names; no place yet
  Passing passing;
  bool is_aggregate = false;  // by value: a result of this type that no register takes is in memory
  bool by_reference = false;  // an object passed by its address, for C++ must not copy its bytes
};

// Reads types, each enumeration once.
class TypeReader {
 public:
  // `type`: none is `void`, which no parameter has. `cxx`: the rules of C++ hold.
  ParameterType read(const std::optional<dwarf::Die>& type, bool cxx);

 private:
  std::shared_ptr<const Enumerators> enumerators_of(const dwarf::Die& type, bool is_signed);

  std::map<const void*, std::shared_ptr<const Enumerators>> enumerators_;  // by entry
};

// How a struct, class or union is passed, by its members' classes.
Passing passing_of_aggregate(const dwarf::Die& type);

// As C writes it, of at most 64 characters: `const char *`.
std::string text_of_type(const std::optional<dwarf::Die>& type);

// The type behind typedefs and qualifiers; none if it is `void` or they do not end.
std::optional<dwarf::Die> stripped(std::optional<dwarf::Die> type);

// How a type that is no aggregate is passed.
Passing passing_of_scalar(const dwarf::Die& type);

}  // namespace tracectl
