// SPDX-License-Identifier: BSD-2-Clause
//
// The type of a parameter or a result in DWARF: how its value is read, shown and passed.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "daemon/model/argument.h"
#include "daemon/object/code/calling_convention.h"
#include "daemon/object/die.h"

namespace tracectl {

struct ParameterType {
  Argument value;  // kind, size, names; without a place
  Passing passing;
  bool by_reference = false;  // passed by its address, because C++ must not copy its bytes
};

// Reads types; each enumeration once.
class TypeReader {
 public:
  // `type` none means `void`, which no parameter has. `cxx`: the rules of C++ apply.
  ParameterType read(const std::optional<dwarf::Die>& type, bool cxx);

 private:
  std::shared_ptr<const Enumerators> enumerators_of(const dwarf::Die& type, bool is_signed);

  std::map<const void*, std::shared_ptr<const Enumerators>> enumerators_;  // by entry
};

// How a struct, class or union is passed, by the classes of its members.
Passing passing_of_aggregate(const dwarf::Die& type);

// The type in the syntax of C, with at most 64 characters: `const char *`.
std::string text_of_type(const std::optional<dwarf::Die>& type);

// The type without typedefs and qualifiers; none if it is `void` or if they do not end.
std::optional<dwarf::Die> stripped(std::optional<dwarf::Die> type);

// How a type that is not an aggregate is passed.
Passing passing_of_scalar(const dwarf::Die& type);

}  // namespace tracectl
