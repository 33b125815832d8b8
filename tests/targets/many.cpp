// build: -O1 -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// Ten thousand functions, m00000 ... m09999, each of which begins with a 5-byte nop. Waits for the end of its
// input.
#include "stdin_protocol.h"
#include "thousand.h"

// clang-format off
#define DEFINE(n)                                                                    \
  extern "C" __attribute__((noipa)) void m##n() {                                    \
    asm volatile(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00");                              \
  }

THOUSAND(DEFINE, 00) THOUSAND(DEFINE, 01) THOUSAND(DEFINE, 02) THOUSAND(DEFINE, 03)
THOUSAND(DEFINE, 04) THOUSAND(DEFINE, 05) THOUSAND(DEFINE, 06) THOUSAND(DEFINE, 07)
THOUSAND(DEFINE, 08) THOUSAND(DEFINE, 09)
    // clang-format on

    int main() {
  ready_and_wait_for_go();
}
