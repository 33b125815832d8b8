// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/model/pattern.h"

namespace tracectl {

// Whether the pattern names the function with this symbol. A name as it is written always names that function: Go's have
// the letters of globs, as in main.(*T).Close and main.Max[...].
bool names_function(const Pattern& pattern, const std::string& symbol);

// Whether the pattern names the function with this symbol as the one that has a copy of an inlined function.
bool names_host(const Pattern& pattern, const std::string& symbol);

// Whether the pattern names copies of inlined functions, alone or beside functions.
bool names_copies(const Pattern& pattern);

// Whether the pattern names the probe with this canonical name.
bool names_probe(const Pattern& pattern, const std::string& probe_name);

}  // namespace tracectl
