// build: -O2 -g -fPIC -shared -fcf-protection=none -Iusdt/include
// SPDX-License-Identifier: BSD-2-Clause
//
// The library for loads.
#include <stdint.h>
#include <tracectl/usdt.h>

TRACECTL_PROBE_DECLARE(loads, worked, (uint64_t, n));

__attribute__((noipa)) uint64_t loads_work(uint64_t n) {
  TRACECTL_PROBE(loads, worked, n);
  return n * 7;
}
