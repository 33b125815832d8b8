// build: -O0 -g -fPIC -shared -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// A library that exports a variable: a program may have a copy of it.
long exported = 7;
static long own = 1;

__attribute__((noipa)) long reads_both(long n) {
  own += n;
  return exported + own;
}
