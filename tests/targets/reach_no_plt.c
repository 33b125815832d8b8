// build: -O2 -g -fPIC -shared -fno-plt -fcf-protection
// SPDX-License-Identifier: BSD-2-Clause
//
// reach_no_plt: calls them through the pointers that the stubs would read.
#include "reach.h"
