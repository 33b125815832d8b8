// SPDX-License-Identifier: BSD-2-Clause
//
// Optional values from libdw's debugging information entries. The file is untrusted: code that
// follows references from entry to entry must bound their number.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tracectl::dwarf {

using Die = Dwarf_Die;

inline constexpr int kDeepestEntry = 64;  // nested entries: deeper ones are left out

inline unsigned tag_of(const Die& die) {
  return static_cast<unsigned>(::dwarf_tag(const_cast<Die*>(&die)));
}

// An attribute of the entry, or of the entry that it is an instance or the definition of.
std::optional<Dwarf_Attribute> attribute(const Die& die, unsigned name);
bool has(const Die& die, unsigned name);
bool flag(const Die& die, unsigned name);
// Whether the entry itself is a declaration, and no definition of one.
inline bool is_declaration(const Die& die) {
  return ::dwarf_hasattr(const_cast<Die*>(&die), DW_AT_declaration) != 0;
}
std::optional<uint64_t> number(const Die& die, unsigned name);  // a constant, not a block
std::optional<Die> referred(const Die& die, unsigned name);
inline std::optional<Die> type_of(const Die& die) { return referred(die, DW_AT_type); }

// Printable ASCII only, because it is shown on terminals; empty if there is none.
std::string name_of(const Die& die);

// Whether a function's entry is that of the symbol: the same code can have several.
bool is_of_symbol(const Die& function, const std::string& symbol);

// Calls `on_child` with each child as long as it returns true. Returns false if it was stopped, or
// if the file is damaged.
template <class F> bool each_child(const Die& parent, F&& on_child) {
  Die child;
  int state = ::dwarf_child(const_cast<Die*>(&parent), &child);
  for (; state == 0; state = ::dwarf_siblingof(&child, &child))
    if (!on_child(const_cast<const Die&>(child))) return false;
  return state > 0;
}

}  // namespace tracectl::dwarf
