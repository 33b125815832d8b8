// build: -O2 -g -fPIC -shared
// SPDX-License-Identifier: BSD-2-Clause
//
// reach_library: calls its exported functions by the linker's stubs.
#include "reach.h"

// The same function, for its own file only. Expect: what is reached bears the exported name.
extern __typeof(exported) another_name __attribute__((alias("exported"), visibility("hidden")));
