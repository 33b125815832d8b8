// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "daemon/model/argument.h"

namespace tracectl {

inline constexpr size_t kMostArguments = 12;  // what <sys/sdt.h> can declare

// The address of a symbol named in an argument (`counter(%rip)`), in the file's own space.
using SymbolLookup = std::function<std::optional<uint64_t>(std::string_view)>;

// Reads the argument string of a note, `-4@%esi 8@-16(%rbp)`, in the syntax of the GNU assembler
// for x86-64 (SystemTap's <sys/sdt.h>: N@OP, N the size in bytes, negative if signed). What cannot
// be read costs that argument, which is then unreadable, never the probe.
Arguments parse_arguments(std::string_view text, const SymbolLookup& symbol);

}  // namespace tracectl
