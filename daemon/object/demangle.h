// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

namespace tracectl {

// The C++ (or legacy Rust, without its hash) name of a mangled symbol; none for other symbols.
std::optional<std::string> demangle(const std::string& symbol);

// Like demangle(), but without the parameters and the result of a C++ function.
std::optional<std::string> demangle_name(const std::string& symbol);

}  // namespace tracectl
