// build: -O2 -g -fpie -pie
// SPDX-License-Identifier: BSD-2-Clause
//
// reach: loaded at any address. The expectations are in reach.h.
#include "reach.h"

int main(int count, char** arguments) {
  (void)arguments;
  if (count > 1) alone();
  start(count);
  return 0;
}
