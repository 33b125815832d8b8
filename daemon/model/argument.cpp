// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/argument.h"

namespace tracectl {

std::string type_name(const Argument& argument) {
  const char* kind = argument.is_float ? "f" : argument.is_signed ? "s" : "u";
  return kind + std::to_string(argument.size_bytes * 8);
}

}  // namespace tracectl
