// build: -O2 -g
// SPDX-License-Identifier: BSD-2-Clause
//
// Probes of <tracectl/usdt.h> where a probe may do harm: in leaves with variables below the stack pointer, in
// the path of an exception, in a signal handler, with more arguments than registers.
#include <signal.h>
#include <tracectl/usdt.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/targets/soak.h"

TRACECTL_PROBE_DECLARE(soak, leaf, (uint64_t, n), (uint64_t, sum));
TRACECTL_PROBE_DECLARE(soak, many, (uint64_t, a), (uint64_t, b), (uint64_t, c), (uint64_t, d),
                       (uint64_t, e), (uint64_t, f), (uint64_t, g), (uint64_t, h), (uint64_t, i),
                       (const char*, j), (uint64_t, k), (uint64_t, l));
TRACECTL_PROBE_DECLARE(soak, thrown, (std::string_view, what), (int, depth));
TRACECTL_PROBE_DECLARE(soak, signalled, (int, number));
TRACECTL_PROBE_DECLARE(soak, nothing);

namespace {

// Without the probe a leaf with its array in the red zone; with the probe it is not a leaf.
SOAK_FUNCTION uint64_t typed_leaf(uint64_t n) {
  volatile uint64_t words[12];
  for (uint64_t i = 0; i < 12; ++i) words[i] = n * (i + 1);
  TRACECTL_PROBE(soak, leaf, n, words[3]);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 12; ++i) sum = mixed(sum, words[i]);
  return sum;
}

// Still a leaf, and the array stays where it was: the nop has one byte.
SOAK_FUNCTION uint64_t typed_inline(uint64_t n) {
  volatile uint64_t words[12];
  for (uint64_t i = 0; i < 12; ++i) words[i] = n * (i + 2);
  TRACECTL_PROBE_INLINE(soak, in_line, n, words[3]);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 12; ++i) sum = mixed(sum, words[i]);
  return sum;
}

// All caller-saved registers are in use around the probe.
SOAK_FUNCTION uint64_t typed_many(uint64_t n) {
  uint64_t a = n, b = n * 3, c = n ^ 5, d = n + 7, e = n * 11, f = n - 13, g = ~n, h = n << 1;
  for (int i = 0; i < 4; ++i) {
    TRACECTL_PROBE(soak, many, a, b, c, d, e, f, g, h, n, "ten", a ^ b, c ^ d);
    a = mixed(a, h), b = mixed(b, a), c = mixed(c, b), d = mixed(d, c);
    e = mixed(e, d), f = mixed(f, e), g = mixed(g, f), h = mixed(h, g);
  }
  return mixed(mixed(a, b) ^ mixed(c, d), mixed(e, f) ^ mixed(g, h));
}

SOAK_FUNCTION uint64_t typed_throwing(uint64_t n, int depth) {
  TRACECTL_PROBE(soak, thrown, std::to_string(n), depth);
  if (depth == 0) throw std::runtime_error(std::to_string(n));
  const uint64_t below = typed_throwing(n + 1, depth - 1);
  TRACECTL_PROBE(soak, nothing);
  return below;
}

SOAK_FUNCTION uint64_t typed_catching(uint64_t n) {
  try {
    return typed_throwing(n, 3);
  } catch (const std::runtime_error& error) {
    TRACECTL_PROBE(soak, thrown, std::string_view{error.what()}, -1);
    return mixed(n, static_cast<uint64_t>(std::stoll(error.what())));
  }
}

volatile uint64_t handled;

void typed_handler(int number) {
  TRACECTL_PROBE(soak, signalled, number);
  handled = handled + 1;
}

SOAK_FUNCTION uint64_t typed_signalled(uint64_t n) {
  handled = 0;
  raise(SIGUSR1);
  return mixed(n, handled);
}

uint64_t typed_round() {
  uint64_t sum = 0;
  for (uint64_t n = 0; n < 40; ++n) {
    sum = mixed(sum, typed_leaf(n));
    sum = mixed(sum, typed_inline(n));
    sum = mixed(sum, typed_many(n));
    TRACECTL_PROBE(soak, nothing);
    if (n % 8 == 0) sum = mixed(sum, typed_catching(n));
    if (n % 8 == 4) sum = mixed(sum, typed_signalled(n));
  }
  return sum;
}

}  // namespace

int main() {
  struct sigaction action {};
  action.sa_handler = typed_handler;
  sigaction(SIGUSR1, &action, nullptr);
  const volatile unsigned short* const semaphores[] = {
      &TRACECTL_USDT_ID_(semaphore, soak, leaf),    &TRACECTL_USDT_ID_(semaphore, soak, many),
      &TRACECTL_USDT_ID_(semaphore, soak, thrown),  &TRACECTL_USDT_ID_(semaphore, soak, signalled),
      &TRACECTL_USDT_ID_(semaphore, soak, nothing), nullptr};
  return soak(typed_round, semaphores);
}
