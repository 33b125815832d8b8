// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// parameters_cxx
//
// C++ functions, each called once. The JSON has the values passed, by demangled name without parameters; null
// for those that no probe can read.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "stdin_protocol.h"

#ifdef __clang__
#define KEPT __attribute__((noinline, minsize, used))
#else
#define KEPT __attribute__((noinline, noclone, used))
#endif

namespace {
volatile long sink;
const void* given[2];  // addresses of copies
}  // namespace

namespace shop {

enum class Size : unsigned char { small, big = 200 };

struct Trivial {
  int n;
};
struct Copied {
  explicit Copied(int n) : number(n) {}
  Copied(const Copied& other) : number(other.number) {}
  int number;
};
struct Defaulted {
  explicit Defaulted(int n) : number(n) {}
  Defaulted(const Defaulted&) = default;
  ~Defaulted() = default;
  int number;
};
struct Holder {
  Copied held[2];
};
struct Empty {};

class Cart {
 public:
  KEPT explicit Cart(int size) : size_(size) { sink = size; }
  // Expect: this in %rdi, %rsi, %rdx
  KEPT void add(Size size, const int& count) { size_ += static_cast<int>(size) + count; }
  // Expect: the result's place in %rdi, this in %rsi, %rdx
  KEPT std::string name(bool upper) const { return std::string(40, upper ? 'A' : 'a'); }
  // Expect: %rdi
  KEPT static long total(long start) { return start + sink; }
  int size() const { return size_; }

 private:
  int size_;
};

// Expect: the address of the copy in %rdi, %rsi; nothing for the empty one, %rdx
KEPT void objects(Copied copied, Trivial trivial, Empty, short after) {
  given[0] = &copied;
  sink = copied.number + trivial.n + after;
}
// Expect: %rdi by value, the address of the copy in %rsi, %rdx
KEPT void nested(Defaulted defaulted, Holder holder, int after) {
  given[1] = &holder;
  sink = defaulted.number + holder.held[0].number + after;
}
// Expect: %rdi, %rsi, %rdx
template <class... T> KEPT void packed(T... all) { sink = (static_cast<long>(all) + ... + 0); }

}  // namespace shop

int main() {
  ready_and_wait_for_go();
  static const int count = 3;
  shop::Cart cart(-21);
  cart.add(shop::Size::big, count);
  const std::string name = cart.name(true);
  shop::Cart::total(-5);
  shop::objects(shop::Copied(1), {2}, {}, -3);
  shop::nested(shop::Defaulted(4), {{shop::Copied(5), shop::Copied(6)}}, -7);
  shop::packed(-1, true, 'c');
  const auto self = reinterpret_cast<uintptr_t>(&cart);
  printf("done\n{\"Cart\":[%lu,-21],", self);
  printf("\"add\":[%lu,200,%lu],", self, reinterpret_cast<uintptr_t>(&count));
  printf("\"objects\":[%lu,null,null,-3],\"nested\":[null,%lu,-7],",
         reinterpret_cast<uintptr_t>(given[0]), reinterpret_cast<uintptr_t>(given[1]));
  printf("\"name\":[%lu,1],\"total\":[-5],\"packed\":[-1,1,99]}\n", self);
  wait_for_exit();
  return name.empty() + cart.size() == 0;
}
