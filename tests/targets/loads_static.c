// build: -O2 -g -static -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// A program without a dynamic linker.
#include "stdin_protocol.h"

int main(void) {
  ready_and_wait_for_go();
  printf("done\n{}\n");
  wait_for_exit();
  return 0;
}
