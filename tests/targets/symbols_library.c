// build: -O2 -g -fPIC -shared
// SPDX-License-Identifier: BSD-2-Clause
//
// symbols_library: variables of a library. A program that is linked with it may have a copy of those that it exports.
// It names a linker, as libc.so.6 does, which can be run.
__attribute__((section(".interp"), used)) static const char linker[] =
    "/lib64/ld-linux-x86-64.so.2";

__attribute__((noipa)) int used(int n) { return n; }

// Expect: refused
int exported = 1;
// Expect: found
__attribute__((visibility("hidden"))) int hidden = 2;
__attribute__((visibility("protected"))) int shielded = 3;
static int local = 4;
// Expect: refused
asm(".globl a_number\n .set a_number, 42");

int sum(void) { return exported + hidden + shielded + local++; }
