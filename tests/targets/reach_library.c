// build: -O2 -g -fPIC -shared
// SPDX-License-Identifier: BSD-2-Clause
//
// reach_library: calls its exported functions through the linker's stubs.
#include "reach.h"

// The same function, for its own file only. Expect: the callee is reported by the exported name.
extern __typeof(exported) another_name __attribute__((alias("exported"), visibility("hidden")));
