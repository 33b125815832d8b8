// build: -O3
// compiler: clang++ -std=c++17
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/typed_cxx.cpp"
