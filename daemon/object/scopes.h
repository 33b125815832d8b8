// SPDX-License-Identifier: BSD-2-Clause
//
// The variables and parameters that a name can mean at an address of a function: those of the innermost block around it
// come first. A function that was inlined there sees its own, not those of the function around it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/object/die.h"

namespace tracectl {

class Scopes {
 public:
  // `function` contains the address; libdw counts addresses of its entries from `base`.
  Scopes(const dwarf::Die& function, uint64_t address, uint64_t base);

  // The variable that the name means at this line of the source: what is declared in a later line is another one. Of
  // several in one block there is more than one. Those of the unit come last.
  std::vector<dwarf::Die> named(const std::string& name, uint32_t line) const;
  // Whether the source has one, which the compiler has removed from this copy of the function.
  bool is_removed(const std::string& name) const;
  // Of the blocks, without the unit's; each once, in the order of their entries.
  std::vector<std::string> names() const;

 private:
  void add_around(uint64_t address);

  std::vector<dwarf::Die> blocks_;  // from the innermost on; the last one is a function
};

}  // namespace tracectl
