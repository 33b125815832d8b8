// SPDX-License-Identifier: BSD-2-Clause
//
// What a copy of an inlined function was given, where it begins.
#pragma once

#include <string>

#include "daemon/object/inlined_copies.h"
#include "daemon/object/location.h"
#include "daemon/object/probes.h"

namespace tracectl {

// Why the parameter may have another value at the place than the copy was given, though it has the location there; empty if
// it has that value.
std::string why_not_as_given(const dwarf::Die& parameter, const Location& location,
                             const CodePlace& place);

// Where some places of a match have a parameter and others have not, these have no value of it, and a note says so.
void settle_parameters(ProbeMatch& match);

// As "the beginning of parse in main".
// Why a copy has no values, if others of the function begin at its first instruction.
inline constexpr const char* kSeveralBegin = "several copies begin at this instruction";

std::string beginning_text(const InlinedCopy& copy, const Function& host);

}  // namespace tracectl
