// build: -O2 -g -no-pie
// SPDX-License-Identifier: BSD-2-Clause
//
// symbols_fixed: symbols.cpp, where code and variables have the addresses that the linker chose.
#include "symbols.cpp"
