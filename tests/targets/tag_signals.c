// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// tag_signals ROUNDS
//
// Sets these tags in turn, ROUNDS times: "one tag of many bytes, of 29.", "two", and none. A signal comes
// every 100 us, and its handler calls work(0).
//
// Expect: work begins with a 5-byte nop.
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <tracectl/tag.h>

#include "nop5_first.h"
#include "stdin_protocol.h"

static volatile uint64_t worked;

__attribute__((noipa)) void work(uint64_t n) {
  NOP5_FIRST;
  worked += n + 1;
}

static void handle(int signal) {
  (void)signal;
  work(0);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  ready_and_wait_for_go();
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  for (uint64_t left = strtoull(argv[1], NULL, 10); left; --left) {
    tracectl_tag_put("one tag of many bytes, of 29.");
    tracectl_tag_put("two");
    tracectl_tag_put(NULL);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  printf("done\n{\"worked\":%llu}\n", (unsigned long long)worked);
  wait_for_exit();
}
