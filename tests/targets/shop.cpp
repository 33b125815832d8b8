// build: -O2 -g -fno-optimize-sibling-calls -fpatchable-function-entry=5
// SPDX-License-Identifier: BSD-2-Clause
//
// Twenty rounds of calls: virtual ones, recursive ones, of one method from another, and of the C library. uftrace(1) can
// patch the entries of all functions.
#include <cstdlib>
#include <vector>

#define CALLED __attribute__((noipa))

namespace shop {

struct Item {
  explicit Item(int price) : price(price) {}
  virtual ~Item() = default;
  CALLED virtual int cost(int n) const { return price * n; }
  int price;
};

struct Dear final : Item {
  using Item::Item;
  CALLED int cost(int n) const override { return Item::cost(n) + tax(n); }
  CALLED int tax(int n) const { return n * 3; }
};

CALLED int sum(const std::vector<Item*>& all, int n) {
  int sum = 0;
  for (const Item* item : all) sum += item->cost(n);
  return sum;
}

CALLED int depth(int n) { return n < 2 ? n : depth(n - 1) + depth(n - 2); }

CALLED bool is_open() { return std::getenv("SHOP_IS_CLOSED") == nullptr; }

CALLED int round_of(const std::vector<Item*>& all, int n) {
  return is_open() ? sum(all, n) + depth(n % 7) : 0;
}

}  // namespace shop

int main() {
  shop::Item plain(3);
  shop::Dear dear(5);
  const std::vector<shop::Item*> all{&plain, &dear, &plain};
  int sum = 0;
  for (int n = 0; n < 20; ++n) sum += shop::round_of(all, n);
  return sum == 0;
}
