// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// fields_cxx
//
// Methods and functions of C++, as fields.c for C: base classes, references, an object that comes as an address. The
// JSON has, for each function, the values of the paths by their text.
#include <cinttypes>

#include "stdin_protocol.h"

#ifdef __clang__
#define KEPT __attribute__((noinline, minsize, used))
#else
#define KEPT __attribute__((noipa, used))
#endif

namespace {
volatile long sink;
}

namespace shop {

class Named {
 public:
  explicit Named(const char* name) : name_(name) {}
  virtual ~Named() = default;
  const char* name() const { return name_; }

 private:
  const char* name_;
};

struct Counted {
  static inline int all = 3;
  int count = 4;
  int hidden = 5;
};

struct Virtual {
  int far = 6;
};

enum class Size : unsigned char { small, big = 200 };

class Cart : public Named, public Counted, public virtual Virtual {
 public:
  Cart(const char* name, int& total, Cart* next) : Named(name), total_(total), next_(next) {}
  KEPT void add(const Counted& item, Size size);
  int hidden = -50;  // hides that of the base

 private:
  int& total_;
  Cart* next_;
  Size last_ = Size::small;
  friend void print_add(Cart& cart, const Counted& item);
};

struct Copied {
  explicit Copied(int n) : number(n) {}
  Copied(const Copied& other) : number(other.number + 1) {}
  int number;
};

void Cart::add(const Counted& item, Size size) {
  sink = item.count + static_cast<int>(size) + total_;
}

KEPT void take(Copied copied, Counted*& pointer) { sink = copied.number + pointer->count; }

template <class Item> struct Box {
  Item item;
  Item* other = &item;
};

KEPT void move(Counted&& item, const Cart* const& cart, Box<Counted>& box, int (&row)[3]) {
  sink = item.count + cart->count + box.item.count + row[2];
}

KEPT void erase(const void* any) { sink = reinterpret_cast<long>(any); }

void print_add(Cart& cart, const Counted& item) {
  printf("done\n{\"add\":[{\"str(arg.this->name_)\":\"%s\",\"arg.this->count\":%d,", cart.name(),
         cart.count);
  printf("\"arg.this->hidden\":%d,\"arg.this->total_\":%d,\"arg.this->last_\":%d,", cart.hidden,
         cart.total_, static_cast<int>(cart.last_));
  printf("\"str(arg.this->next_->name_)\":\"%s\",\"arg.this->next_->total_\":%d,",
         cart.next_->name(), cart.next_->total_);
  printf("\"arg.item.count\":%d,\"arg.item.hidden\":%d}],", item.count, item.hidden);
}

}  // namespace shop

int main() {
  ready_and_wait_for_go();
  int total = 70, totals = 700;
  shop::Cart next("second", totals, nullptr), cart("first", total, &next);
  shop::Counted item, *pointer = &item;
  item.count = 44;
  cart.add(item, shop::Size::big);
  shop::take(shop::Copied(8), pointer);
  shop::Box<shop::Counted> box{item};
  const shop::Cart* const constant = &cart;
  int row[3] = {1, 2, -30};
  shop::move(shop::Counted(item), constant, box, row);
  shop::erase(&cart);
  shop::print_add(cart, item);
  printf("\"erase\":[{\"((shop::Cart *)arg.any)->count\":4,\"((shop::Cart *)arg0)->total_\":70,");
  printf("\"str(((shop::Cart *)arg.any)->next_->name_)\":\"second\"}],");
  printf("\"move\":[{\"arg.item.count\":44,\"arg.cart->count\":4,\"arg.cart->next_->total_\":700,");
  printf("\"arg.box.item.count\":44,\"arg.box.other->hidden\":5,\"arg.row[2]\":-30}],");
  printf("\"take\":[{\"arg.copied.number\":8,\"arg.pointer->count\":44}]}\n");
  wait_for_exit();
}
