// build: -O2 -fPIC -shared -s -Wl,-z,ibtplt -fcf-protection
// SPDX-License-Identifier: BSD-2-Clause
//
// reach_stripped: has names only for its exported functions. Its stubs begin with endbr64.
#include "reach.h"
