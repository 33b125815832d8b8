// SPDX-License-Identifier: BSD-2-Clause
//
// The type of a parameter or a result in DWARF: how its value is read, shown and passed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/model/argument.h"
#include "daemon/object/code/calling_convention.h"
#include "daemon/object/definitions.h"
#include "daemon/object/die.h"

namespace tracectl {

struct ParameterType {
  Argument value;  // kind, size, names; without a place
  Passing passing;
  bool by_reference = false;  // passed by its address, because C++ must not copy its bytes
};

// A member of a struct, or of one within it, that is no struct or array itself.
struct AggregateMember {
  std::string name;                // with those around it: `at.x`, `all[1]`
  std::optional<dwarf::Die> type;  // without typedefs; none: a union
  uint64_t first_bit = 0;
  uint64_t bit_count = 0;
};

// Reads types of one file; each enumeration once.
class TypeReader {
 public:
  // `type` none means `void`, which no parameter has. `cxx`: the rules of C++ apply.
  ParameterType read(const std::optional<dwarf::Die>& type, bool cxx);

  // The members of a struct that is returned in registers: `words` as in ResultSeat. Of what is no struct they are the
  // registers. Null if it is a union, or not understood.
  std::shared_ptr<const Members> members_in_registers(const std::optional<dwarf::Die>& type,
                                                      bool cxx, const ResultWords& words);
  Definitions& definitions() { return definitions_; }

 private:
  Member member_of(const AggregateMember& listed, bool cxx, const ResultWords& words);
  std::shared_ptr<const Enumerators> enumerators_of(const dwarf::Die& type, bool is_signed);

  std::map<const void*, std::shared_ptr<const Enumerators>> enumerators_;  // by entry
  Definitions definitions_;
};

// How a struct, class or union is passed, by the classes of its members. Adds these to `members`, unless it is null.
Passing passing_of_aggregate(const dwarf::Die& type,
                             std::vector<AggregateMember>* members = nullptr);

// The type in the syntax of C, with at most 64 characters: `const char *`.
std::string text_of_type(const std::optional<dwarf::Die>& type);

// The type without typedefs and qualifiers; none if it is `void` or if they do not end.
std::optional<dwarf::Die> stripped(std::optional<dwarf::Die> type);

// How a type that is not an aggregate is passed.
Passing passing_of_scalar(const dwarf::Die& type);

}  // namespace tracectl
