// build: -O2 -g -fcf-protection=none -fno-omit-frame-pointer -pg
// SPDX-License-Identifier: BSD-2-Clause
//
// hot.c for uftrace: each function calls mcount.
#include "hot.c"
