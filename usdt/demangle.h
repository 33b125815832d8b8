// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

namespace tracectl {

// The C++ (or legacy Rust, without its hash) name of a mangled symbol; none for any other.
std::optional<std::string> demangle(const std::string& symbol);

// As demangle(), but of a C++ function neither its parameters nor what it returns.
std::optional<std::string> demangle_name(const std::string& symbol);

}  // namespace tracectl
