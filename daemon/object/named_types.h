// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/object/die.h"

namespace tracectl {

// A search for a type by its name, as casts write it: `struct conn`, `conn_t`, `unsigned long`, `ns::Type<int>`. In one
// unit, because other units may mean another type by the same name.
class NamedType {
 public:
  NamedType(const dwarf::Die& unit, const std::string& name);

  // None if the unit does not define it.
  const std::optional<dwarf::Die>& found() const { return found_; }
  // Without `struct` and the like.
  const std::string& name() const { return wanted_; }
  bool is_declared() const { return is_declared_; }
  // Why it was not found.
  std::string why_not() const;

 private:
  bool search(const dwarf::Die& parent, const std::string& prefix, int depth);
  bool look_at(const dwarf::Die& die, const std::string& prefix, int depth);
  bool take(const dwarf::Die& die);

  std::string name_;        // as it was written
  std::string wanted_;      // in the form in which names are compared
  bool is_tagged_ = false;  // struct, class or union was written
  std::optional<dwarf::Die> found_;
  bool is_declared_ = false;
  size_t seen_ = 0;
  std::vector<std::string> names_;
};

}  // namespace tracectl
