// SPDX-License-Identifier: BSD-2-Clause
//
// Converts the types of arguments from a provider file to C.
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
  std::string name;  // "unsigned int", "struct request"; empty if it has none
  size_t pointers = 0;
  bool is_const = false;  // of the target of all pointers
};

constexpr size_t kMostPointers = 8;

// A type by its name in D or in Solaris, as it is in C on Linux.
std::optional<Type> type_of_d(std::string_view name);

// The text for the header. Only for types without complaint_about().
std::string text_of(const Type& type);

// Why no argument can have this type, or none.
std::optional<std::string> complaint_about(const Type& type);

// The header that defines a type of this name, or none.
std::optional<std::string> header_of(std::string_view name);

}  // namespace tracectl::generator
