// build: -O1 -g -fcf-protection=none -fno-omit-frame-pointer
// SPDX-License-Identifier: BSD-2-Clause
//
// cxx_names [ROUNDS]
//
// C++ functions whose names need demangling. Each is called ROUNDS times, and begins with `push %rbp`
// (normal). The JSON has the calls by demangled name.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "push_first.h"
#include "stdin_protocol.h"

#define KEPT __attribute__((noipa))

static volatile uint64_t sink;

namespace shop::orders {

// Expect: shop::orders::price matches both; shop::orders::price(int) the first one.
KEPT void price(int n) {
  PUSH_FIRST;
  sink = sink + static_cast<uint64_t>(n);
}
KEPT void price(double n) {
  PUSH_FIRST;
  sink = sink + static_cast<uint64_t>(n);
}

class Cart {
 public:
  // Expect: shop::orders::Cart::Cart(int), with one or more symbols (complete and base object).
  KEPT explicit Cart(int size) : size_(size) { PUSH_FIRST; }
  // Expect: shop::orders::Cart::add(std::basic_string_view<...>)
  KEPT void add(std::string_view item) {
    PUSH_FIRST;
    size_ += static_cast<int>(item.size());
  }
  // Expect: shop::orders::Cart::size() const
  KEPT int size() const {
    PUSH_FIRST;
    return size_;
  }
  // Expect: shop::orders::Cart::operator+=(int)
  KEPT Cart& operator+=(int n) {
    PUSH_FIRST;
    size_ += n;
    return *this;
  }

 private:
  int size_;
};

}  // namespace shop::orders

namespace {
// Expect: (anonymous namespace)::hidden(int), a local symbol: not with --global.
KEPT void hidden(int n) {
  PUSH_FIRST;
  sink = sink + static_cast<uint64_t>(n);
}
}  // namespace

// Expect: int twice<int>(int) and long twice<long>(long): a template function's name includes its result
// type.
template <class T> KEPT T twice(T value) {
  PUSH_FIRST;
  sink = sink + static_cast<uint64_t>(value);
  return static_cast<T>(value * 2);
}

// Expect: plain, not mangled.
extern "C" KEPT void plain(int n) {
  PUSH_FIRST;
  sink = sink + static_cast<uint64_t>(n);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  ready_and_wait_for_go();
  for (int n = 0; n < rounds; ++n) {
    shop::orders::price(n);
    shop::orders::price(1.5 * n);
    shop::orders::Cart cart(n);
    cart.add("item");
    cart += 1;
    sink = sink + static_cast<uint64_t>(cart.size());
    hidden(n);
    twice<int>(n);
    twice<long>(n);
    plain(n);
  }
  static const char* const names[] = {
      "shop::orders::price(int)",
      "shop::orders::price(double)",
      "shop::orders::Cart::Cart(int)",
      "shop::orders::Cart::size() const",
      "shop::orders::Cart::operator+=(int)",
      "(anonymous namespace)::hidden(int)",
      "int twice<int>(int)",
      "long twice<long>(long)",
      "plain",
      "shop::orders::Cart::add(std::basic_string_view<char, std::char_traits<char> >)",
  };
  printf("done\n{\"rounds\":%d,\"calls\":{", rounds);
  const char* comma = "";
  for (const char* name : names) {
    printf("%s\"%s\":%d", comma, name, rounds);
    comma = ",";
  }
  printf("}}\n");
  wait_for_exit();
  return 0;
}
