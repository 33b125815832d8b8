// build: -O2 -g -fPIC -shared
// SPDX-License-Identifier: BSD-2-Clause
//
// symbols_library: variables of a library. A program that is linked with it may have a copy of those that it exports.
__attribute__((noipa)) int used(int n) { return n; }

// Expect: refused
int exported = 1;
// Expect: found
__attribute__((visibility("hidden"))) int hidden = 2;
__attribute__((visibility("protected"))) int shielded = 3;
static int local = 4;

int sum(void) { return exported + hidden + shielded + local++; }
