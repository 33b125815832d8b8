// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/object/die.h"

namespace tracectl {

enum class Language { c, cxx, other };  // others have a different, or an unknown convention

// Of the unit that has the entry.
inline Language language_of(const dwarf::Die& entry) {
  dwarf::Die unit;
  if (!::dwarf_diecu(const_cast<dwarf::Die*>(&entry), &unit, nullptr, nullptr))
    return Language::other;
  constexpr int kC17 = 0x2c, kCxx17 = 0x2a, kCxx20 = 0x2b;  // later than this dwarf.h
  switch (::dwarf_srclang(&unit)) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case kC17: return Language::c;
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case kCxx17:
    case kCxx20: return Language::cxx;
    default: return Language::other;
  }
}

}  // namespace tracectl
