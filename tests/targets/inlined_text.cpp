// build: -O1 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// inlined_text ROUNDS
//
// In each round a function is inlined that takes a string by value, which C++ passes by its address, and then a number.
#include <cstdlib>
#include <string>

#include "stdin_protocol.h"

namespace {

volatile long sink;

__attribute__((always_inline)) inline long take(std::string given, long number) {
  sink = number;
  sink = static_cast<long>(given.size());
  return given[0] + number;
}

}  // namespace

__attribute__((noinline)) long host(const std::string& given, long number) {
  sink = 0;
  return take(given, number) + 1;
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1;
  ready_and_wait_for_go();
  const std::string given = "what was given to the function";
  for (long i = 0; i < rounds; ++i) host(given, i + 3);
  std::puts("done\n{}");
  wait_for_exit();
}
