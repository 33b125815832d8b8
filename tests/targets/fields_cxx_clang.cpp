// build: -O2 -g -gdwarf-5
// compiler: clang++ -std=c++20
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/fields_cxx.cpp"
