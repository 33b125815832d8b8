// build: -O2 -g -fcf-protection=none -stdlib=libc++
// compiler: clang++ -std=c++20
// SPDX-License-Identifier: BSD-2-Clause
//
// libcxx_strings ROUNDS
//
// Passes libc++ strings of all lengths from 0 to 40, around the limit of 22 characters for inline storage.
//
// Expect: libcxx:work arg0 the address of a std::string, arg1 its length, arg2 the address of its
// characters.
#include <sys/sdt.h>

#include <string>

#include "stdin_protocol.h"

__attribute__((noinline)) static void fire(const std::string& string) {
  DTRACE_PROBE3(libcxx, work, &string, string.size(), string.c_str());
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  ready_and_wait_for_go();
  const unsigned long rounds = strtoul(argv[1], nullptr, 10);
  for (unsigned long i = 0; i < rounds; ++i)
    fire(std::string(i % 41, static_cast<char>('a' + i % 26)));
  printf("done\n{\"calls\":%lu}\n", rounds);
  wait_for_exit();
}
