// SPDX-License-Identifier: BSD-2-Clause
//
// The second unit of the programs lines and lines_o2.
#include "tests/targets/lines.h"

KEPT long other_unit(long n) {
  long sum = 0;
  COUNTED(IN_UNIT, sum = n);
  if (n & 1) {
    COUNTED(IN_UNIT, sum += square(n));
  }
  return sum;
}
