// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/object/die.h"

namespace tracectl {

// The definitions of structs, classes and unions that other units of the file have. Two units may mean another type by the
// same name, so a definition counts only if all of that name have the same members.
class Definitions {
 public:
  struct Found {
    std::optional<dwarf::Die> type;
    std::string why_not;    // follows the type's name
    bool is_there = false;  // there are definitions
  };

  // Of the type of that entry, which is a declaration or a definition of the file.
  Found of(const dwarf::Die& type);
  // As casts write it: `conn`, `net::Conn`. `in`: any entry of the file.
  Found named(const std::string& name, const dwarf::Die& in);

 private:
  using Names = std::vector<std::string>;  // of a type, after those around it

  const Names& names_of(const dwarf::Die& type);
  Found find(const Names& names, const dwarf::Die& in);
  Found search(const Names& names, const dwarf::Die& in);
  bool add_from(const dwarf::Die& parent, const Names& names, size_t level, int depth);
  bool look_at(const dwarf::Die& die, const Names& names, size_t level, int depth);

  size_t seen_ = 0;  // entries, for one name
  std::vector<dwarf::Die> definitions_;
  std::map<const void*, Names> names_;  // by entry
  std::map<std::pair<const Dwarf*, Names>, Found> known_;
};

}  // namespace tracectl
