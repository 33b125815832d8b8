// build: -O1 -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// Ten thousand functions, m00000 ... m09999, each beginning with a 5-byte nop. Waits for the end of
// its input.
#include "stdin_protocol.h"

// clang-format off
#define DEFINE(n)                                                                    \
  extern "C" __attribute__((noipa)) void m##n() {                                    \
    asm volatile(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00");                              \
  }
#define TEN(X, p) X(p##0) X(p##1) X(p##2) X(p##3) X(p##4) X(p##5) X(p##6) X(p##7) X(p##8) X(p##9)
#define HUNDRED(X, p) \
  TEN(X, p##0) TEN(X, p##1) TEN(X, p##2) TEN(X, p##3) TEN(X, p##4) \
  TEN(X, p##5) TEN(X, p##6) TEN(X, p##7) TEN(X, p##8) TEN(X, p##9)
#define THOUSAND(X, p) \
  HUNDRED(X, p##0) HUNDRED(X, p##1) HUNDRED(X, p##2) HUNDRED(X, p##3) HUNDRED(X, p##4) \
  HUNDRED(X, p##5) HUNDRED(X, p##6) HUNDRED(X, p##7) HUNDRED(X, p##8) HUNDRED(X, p##9)

THOUSAND(DEFINE, 00) THOUSAND(DEFINE, 01) THOUSAND(DEFINE, 02) THOUSAND(DEFINE, 03)
THOUSAND(DEFINE, 04) THOUSAND(DEFINE, 05) THOUSAND(DEFINE, 06) THOUSAND(DEFINE, 07)
THOUSAND(DEFINE, 08) THOUSAND(DEFINE, 09)
    // clang-format on

    int main() {
  ready_and_wait_for_go();
}
