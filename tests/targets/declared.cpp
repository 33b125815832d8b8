// build: -O2 -g -fcf-protection=none -x c++ tests/targets/declared_unit.inc tests/targets/declared_other_unit.inc -x c tests/targets/declared_c_unit.inc -x c++
// compiler: g++
// SPDX-License-Identifier: BSD-2-Clause
//
// declared
//
// Functions whose arguments point to structs that other units of the program define.
#include "tests/targets/declared.h"

volatile long sink;

KEPT void see(conn* c) { sink = (long)c; }
KEPT void see_hidden(Holder* h) { sink = (long)h->hidden; }
KEPT void see_socket(net::Socket* s) { sink = (long)s; }
KEPT void see_options(net::Options* o) { sink = (long)o; }
KEPT void see_different(different* d) { sink = (long)d; }
KEPT void see_nowhere(nowhere* n) { sink = (long)n; }
KEPT void see_shared(shared* s) { sink = (long)s; }
KEPT void see_any(void* p) { sink = (long)p; }

int main() { return 0; }
