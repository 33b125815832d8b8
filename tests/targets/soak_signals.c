// build: -O2 -g -fcf-protection=full
// SPDX-License-Identifier: BSD-2-Clause
//
// Signals that the program sends itself, and a timer's at any instruction, also at a probed one; some on an
// alternate stack. The interrupted code must not notice.
#include <signal.h>
#include <sys/time.h>

#include "soak.h"

static uint64_t from_handlers;
static volatile uint64_t damage;

SOAK_FUNCTION uint64_t signals_leaf(uint64_t n) {
  volatile uint64_t words[6];
  for (uint64_t i = 0; i < 6; ++i) words[i] = n + i;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 6; ++i) sum += words[i];
  return sum;
}

SOAK_FUNCTION uint64_t signals_nop5(uint64_t n) {
  NOP5_FIRST;
  return n * 3;
}

SOAK_FUNCTION void signals_on_sent(int signal) {
  from_handlers = mixed(from_handlers, signals_leaf((uint64_t)signal));
}

SOAK_FUNCTION void signals_on_timer(int signal) {
  const uint64_t n = (uint64_t)signal;
  if (signals_leaf(n) != 6 * n + 15 || signals_nop5(n) != 3 * n) ++damage;
}

SOAK_FUNCTION void signals_send(uint64_t i) { raise(i % 2 ? SIGUSR1 : SIGUSR2); }

static uint64_t signals_round(void) {
  uint64_t sum = from_handlers = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    signals_send(i);
    sum = mixed(sum, signals_leaf(i));
    sum = mixed(sum, signals_nop5(i));
  }
  return mixed(mixed(sum, from_handlers), damage);
}

static void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | flags};
  sigaction(signal, &action, NULL);
}

int main(void) {
  static char stack[65536];
  const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&alternative, NULL);
  handle(SIGUSR1, signals_on_sent, 0);
  handle(SIGUSR2, signals_on_sent, SA_ONSTACK);
  handle(SIGALRM, signals_on_timer, SA_ONSTACK);
  const struct itimerval every_ms = {.it_interval = {.tv_usec = 1000}, .it_value = {.tv_usec = 1}};
  setitimer(ITIMER_REAL, &every_ms, NULL);
  return soak_without_semaphores(signals_round);
}
