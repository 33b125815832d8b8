// SPDX-License-Identifier: BSD-2-Clause
//
// The string classes of C++ libraries whose objects are texts: std::string and std::string_view of libstdc++ and
// libc++.
#pragma once

#include <optional>
#include <string>

#include "daemon/model/argument.h"
#include "daemon/object/die.h"

namespace tracectl {

// Whether the struct or class has the name of such a class.
bool is_text_class(const dwarf::Die& type);

struct TextOfClass {
  std::optional<TextPlace> place = {};
  std::string why_not = {};  // if it has none
};

// By the members that the definition has: only known layouts are understood.
TextOfClass text_of_class(const dwarf::Die& definition);

}  // namespace tracectl
