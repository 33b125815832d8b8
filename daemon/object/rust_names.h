// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tracectl {

// The name that a symbol in Rust's mangling v0 (RFC 2603) stands for, without hashes of crates and types of constants:
// "<demo::Pipe as core::fmt::Write>::fill::<u8>". None for other symbols, and for those with constants of types other
// than integers, bool and char.
//
// A symbol can refer to parts of itself, and so stand for a name that is longer than any memory. Symbols for which the
// name, the nesting or the work would be too much have no name here: the limits are in the source.
std::optional<std::string> demangle_rust_v0(std::string_view symbol);

}  // namespace tracectl
