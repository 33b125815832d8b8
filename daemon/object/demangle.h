// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

namespace tracectl {

// The name in C++ or Rust, there without hashes, of a mangled symbol; none for other symbols, and for a name of more than
// 64 KiB.
std::optional<std::string> demangle(const std::string& symbol);

// Like demangle(), but without the parameters and the result of a C++ function.
std::optional<std::string> demangle_name(const std::string& symbol);

}  // namespace tracectl
