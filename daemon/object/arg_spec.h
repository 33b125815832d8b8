// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "daemon/model/argument.h"
#include "daemon/object/code/operand.h"

namespace tracectl {

inline constexpr size_t kMostArguments = 12;  // the most that <sys/sdt.h> can declare

// Parses the argument string of a note, `-4@%esi 8@-16(%rbp)`, in the syntax of the GNU assembler
// for this machine (SystemTap's <sys/sdt.h>: N@OP, N the size in bytes, negative if signed). An argument
// that cannot be parsed is unreadable; the probe stays usable.
Arguments parse_arguments(std::string_view text, const SymbolLookup& symbol);

}  // namespace tracectl
