// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// cold_parts
//
// Functions that gcc splits: one part is elsewhere, `.cold`. Not run; its file is read.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#define KEPT __attribute__((noinline, noclone, used))

namespace {
volatile long sink;

__attribute__((cold, noinline)) void complain(const char* what, long n) {
  std::fprintf(stderr, "%s: %ld\n", what, n);
}
}  // namespace

// Jumps there and back.
extern "C" KEPT long warns(long n) {
  if (n < 0) {
    complain("negative", n);
    sink = n;
    n = -n;
  }
  return sink + n;
}

// Jumps there and does not come back.
extern "C" KEPT long ends(long n) {
  if (n == 0) {
    complain("zero", n);
    std::abort();
  }
  return 100 / n;
}

// Has its landing pads there.
extern "C" KEPT long throws(long n) {
  const std::string text = std::to_string(n);
  try {
    if (text.size() > 4) throw std::length_error(text);
  } catch (const std::length_error& error) {
    complain(error.what(), n);
  }
  return static_cast<long>(text.size());
}

int main(int count, char**) { return static_cast<int>(warns(count) + ends(count) + throws(count)); }
