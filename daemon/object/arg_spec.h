// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "daemon/model/argument.h"

namespace tracectl {

inline constexpr size_t kMostArguments = 12;  // the most that <sys/sdt.h> can declare

// The address of a symbol in an argument (`counter(%rip)`), in the file's own address space.
using SymbolLookup = std::function<std::optional<uint64_t>(std::string_view)>;

// Parses the argument string of a note, `-4@%esi 8@-16(%rbp)`, in the syntax of the GNU assembler
// for x86-64 (SystemTap's <sys/sdt.h>: N@OP, N the size in bytes, negative if signed). An argument
// that cannot be parsed is unreadable; the probe stays usable.
Arguments parse_arguments(std::string_view text, const SymbolLookup& symbol);

}  // namespace tracectl
