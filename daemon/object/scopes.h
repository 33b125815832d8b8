// SPDX-License-Identifier: BSD-2-Clause
//
// The variables and parameters that a name can mean at an address of a function: those of the innermost block around it
// come first. A function that was inlined there sees its own, not those of the function around it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/object/die.h"

namespace tracectl {

class Scopes {
 public:
  // A line of the source: its file by its path.
  struct Line {
    std::string source;
    uint32_t number = 0;
  };

  // `function` contains the address, to which the line was compiled; libdw counts addresses of its entries from `base`.
  Scopes(const dwarf::Die& function, uint64_t address, uint64_t base, Line line);

  // Of a copy of an inlined function, where it begins: of its own variables it has the parameters there. The line is the one
  // in which the function begins.
  Scopes(const dwarf::Die& copy, Line line)
      : line_(std::move(line)), begins_(true), blocks_{copy} {}

  // The variable that the name means at the line: what is declared in a later line is another one. Of several in one
  // block there is more than one. Those of the unit come last.
  std::vector<dwarf::Die> named(const std::string& name) const;
  // Why it is not known what names mean here; empty if it is.
  const std::string& why_unclear() const { return why_unclear_; }
  // What `this` leads to, if it has a member of the name: the source then means that, and no variable of the unit.
  bool is_member(const std::string& name) const;
  // Whether the source has one, which the compiler has removed from this copy of the function.
  bool is_removed(const std::string& name) const;
  // Of the blocks, without the unit's; each once, in the order of their entries.
  std::vector<std::string> names() const;

 private:
  enum class Owner { caller, inlined, unclear };

  bool is_there(const dwarf::Die& variable) const;
  void add_around(uint64_t address);
  Owner owner_of_line(const dwarf::Die& caller, const dwarf::Die& inlined) const;

  Line line_;
  bool begins_ = false;             // the function, and has no variables yet
  std::vector<dwarf::Die> blocks_;  // from the innermost on; the last one is a function
  std::string why_unclear_;
};

}  // namespace tracectl
