// build: -O0 -g -fcf-protection=none -fdebug-types-section
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/parameters.c"
