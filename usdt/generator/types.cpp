// SPDX-License-Identifier: BSD-2-Clause
#include "usdt/generator/types.h"

#include <array>
#include <utility>

namespace tracectl::generator {
namespace {

struct TypeOfD {
  std::string_view name;
  std::string_view in_c;
};

constexpr std::array kTypesOfD{
    TypeOfD{"boolean_t", "bool"},
    TypeOfD{"uchar_t", "unsigned char"},
    TypeOfD{"ushort_t", "unsigned short"},
    TypeOfD{"uint_t", "unsigned int"},
    TypeOfD{"ulong_t", "unsigned long"},
    TypeOfD{"longlong_t", "long long"},
    TypeOfD{"u_longlong_t", "unsigned long long"},
    TypeOfD{"hrtime_t", "long long"},
    TypeOfD{"zoneid_t", "int"},
    TypeOfD{"projid_t", "int"},
    TypeOfD{"taskid_t", "int"},
    TypeOfD{"processorid_t", "int"},
};

struct TypeInHeader {
  std::string_view name;
  const char* header;
};

constexpr std::array kTypesInHeaders{
    TypeInHeader{"bool", "stdbool.h"},
    TypeInHeader{"size_t", "stddef.h"},
    TypeInHeader{"ptrdiff_t", "stddef.h"},
    TypeInHeader{"wchar_t", "stddef.h"},
    TypeInHeader{"FILE", "stdio.h"},
    TypeInHeader{"intptr_t", "stdint.h"},
    TypeInHeader{"uintptr_t", "stdint.h"},
    TypeInHeader{"intmax_t", "stdint.h"},
    TypeInHeader{"uintmax_t", "stdint.h"},
    TypeInHeader{"blkcnt_t", "sys/types.h"},
    TypeInHeader{"blksize_t", "sys/types.h"},
    TypeInHeader{"caddr_t", "sys/types.h"},
    TypeInHeader{"clock_t", "sys/types.h"},
    TypeInHeader{"clockid_t", "sys/types.h"},
    TypeInHeader{"daddr_t", "sys/types.h"},
    TypeInHeader{"dev_t", "sys/types.h"},
    TypeInHeader{"gid_t", "sys/types.h"},
    TypeInHeader{"id_t", "sys/types.h"},
    TypeInHeader{"ino_t", "sys/types.h"},
    TypeInHeader{"key_t", "sys/types.h"},
    TypeInHeader{"mode_t", "sys/types.h"},
    TypeInHeader{"nlink_t", "sys/types.h"},
    TypeInHeader{"off_t", "sys/types.h"},
    TypeInHeader{"pid_t", "sys/types.h"},
    TypeInHeader{"pthread_t", "sys/types.h"},
    TypeInHeader{"ssize_t", "sys/types.h"},
    TypeInHeader{"suseconds_t", "sys/types.h"},
    TypeInHeader{"time_t", "sys/types.h"},
    TypeInHeader{"u_char", "sys/types.h"},
    TypeInHeader{"u_int", "sys/types.h"},
    TypeInHeader{"u_int16_t", "sys/types.h"},
    TypeInHeader{"u_int32_t", "sys/types.h"},
    TypeInHeader{"u_int64_t", "sys/types.h"},
    TypeInHeader{"u_int8_t", "sys/types.h"},
    TypeInHeader{"u_long", "sys/types.h"},
    TypeInHeader{"u_short", "sys/types.h"},
    TypeInHeader{"uid_t", "sys/types.h"},
    TypeInHeader{"uint", "sys/types.h"},
    TypeInHeader{"ulong", "sys/types.h"},
    TypeInHeader{"useconds_t", "sys/types.h"},
    TypeInHeader{"ushort", "sys/types.h"},
};

// Whether it is int8_t, uint_fast16_t or a similar type.
bool is_of_stdint(std::string_view name) {
  if (name.starts_with('u')) name.remove_prefix(1);
  if (!name.starts_with("int")) return false;
  name.remove_prefix(3);
  for (std::string_view kind : {"_fast", "_least"})
    if (name.starts_with(kind)) name.remove_prefix(kind.size());
  return name == "8_t" || name == "16_t" || name == "32_t" || name == "64_t";
}

bool is_floating(std::string_view name) {
  return name == "float" || name == "double" || name == "long double";
}

}  // namespace

std::optional<Type> type_of_d(std::string_view name) {
  Type type;
  if (name == "string") {
    type.name = "char";
    type.pointers = 1;
    return type;
  }
  for (const TypeOfD& one : kTypesOfD) {
    if (one.name != name) continue;
    type.name = one.in_c;
    return type;
  }
  return std::nullopt;
}

std::string text_of(const Type& type) {
  if (type.pointers == 0) return type.base == Type::Base::enumeration ? "int" : type.name;
  const bool has_name = type.base != Type::Base::enumeration && !type.name.empty();
  const std::string name = has_name ? type.name : "void";
  if (type.pointers == 1) return "const " + name + "*";
  return (type.is_const ? "const " : "") + name + std::string(type.pointers - 1, '*') + " const*";
}

std::optional<std::string> complaint_about(const Type& type) {
  if (type.pointers > 0) return std::nullopt;
  if (type.base == Type::Base::structure)
    return "a probe takes no struct or union; declare a pointer to it";
  if (type.name == "void") return "a probe takes no void; declare a pointer";
  if (type.base == Type::Base::plain && is_floating(type.name))
    return "a probe takes no floating-point numbers; pass it as an integer, or a pointer to it";
  return std::nullopt;
}

std::optional<std::string> header_of(std::string_view name) {
  if (is_of_stdint(name)) return "stdint.h";
  for (const TypeInHeader& type : kTypesInHeaders)
    if (type.name == name) return type.header;
  return std::nullopt;
}

}  // namespace tracectl::generator
