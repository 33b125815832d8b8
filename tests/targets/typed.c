// build: -O2 -std=c11 -D_POSIX_C_SOURCE=200809L
// SPDX-License-Identifier: BSD-2-Clause
//
// See typed.h.
#include "tests/targets/typed.h"

int main(int argc, char** argv) {
  const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
  static int object;
  ready_and_wait_for_go();
  const uint64_t wrong = pass_all(rounds, &object);
  printf("done\n{\"wrong\":%" PRIu64 ",\"probes\":{", wrong);
  print_all(rounds, &object);
  printf("\"end\":{\"hits\":0,\"args\":[]}}}\n");
  wait_for_exit();
  return 0;
}
