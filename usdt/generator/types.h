// SPDX-License-Identifier: BSD-2-Clause
//
// The types of arguments, from what a provider file says to what C takes.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tracectl::generator {

struct Type {
  enum class Base { plain, structure, enumeration };

  Base base = Base::plain;
  std::string name;  // "unsigned int", "struct request"; empty where it has none
  size_t pointers = 0;
  bool is_const = false;  // what stands behind all pointers
};

constexpr size_t kMostPointers = 8;

// A type by its name in D or in Solaris, as C on Linux has it.
std::optional<Type> type_of_d(std::string_view name);

// As the header writes it. Only for types that complaint_about() has nothing against.
std::string text_of(const Type& type);

// Why no argument can have this type, or nothing.
std::optional<std::string> complaint_about(const Type& type);

// The header that defines a type of this name, or nothing.
std::optional<std::string> header_of(std::string_view name);

}  // namespace tracectl::generator
