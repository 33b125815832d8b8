// SPDX-License-Identifier: BSD-2-Clause
//
// Debugging information entries of libdw, as values that are there or not. The file is foreign:
// whoever follows references from entry to entry bounds how often.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tracectl::dwarf {

using Die = Dwarf_Die;

inline constexpr int kDeepestEntry = 64;  // entries within one another: what is below is left out

inline unsigned tag_of(const Die& die) {
  return static_cast<unsigned>(::dwarf_tag(const_cast<Die*>(&die)));
}

// Of the entry itself, or of what it is an instance or the definition of.
std::optional<Dwarf_Attribute> attribute(const Die& die, unsigned name);
bool has(const Die& die, unsigned name);
bool flag(const Die& die, unsigned name);
std::optional<uint64_t> number(const Die& die, unsigned name);  // a constant, not a block
std::optional<Die> referred(const Die& die, unsigned name);
inline std::optional<Die> type_of(const Die& die) { return referred(die, DW_AT_type); }

// Printable ASCII only, as it goes to terminals; empty if there is none.
std::string name_of(const Die& die);

// Calls with each child while it returns true. False: it was stopped, or the file is damaged.
template <class F> bool each_child(const Die& parent, F&& on_child) {
  Die child;
  int state = ::dwarf_child(const_cast<Die*>(&parent), &child);
  for (; state == 0; state = ::dwarf_siblingof(&child, &child))
    if (!on_child(const_cast<const Die&>(child))) return false;
  return state > 0;
}

}  // namespace tracectl::dwarf
