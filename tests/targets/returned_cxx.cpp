// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// returned_cxx
//
// C++ functions with results that only C++ has, each called once. The JSON is as that of tests/targets/returned.c, by
// the functions' names. An object that must not be copied by its bytes is made at an address that the caller passes;
// the constructors report that address.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stdin_protocol.h"

#ifdef __clang__
#define KEPT __attribute__((noinline, minsize, used))
#else
#define KEPT __attribute__((noinline, noclone, used))
#endif

namespace shop {

volatile int sink = 27;
uintptr_t made_at = 0;  // of the last object

class Made {
 public:
  explicit Made(int n) : number_(n) { made_at = reinterpret_cast<uintptr_t>(this); }
  Made(const Made& other) : number_(other.number_) {}
  int number() const { return number_; }

 private:
  int number_;
};
struct WithVirtual {
  explicit WithVirtual(int n) : number(n) { made_at = reinterpret_cast<uintptr_t>(this); }
  virtual int get() const { return number; }
  int number;
};
struct HoldsMade {
  Made made;
};
struct Trivial {
  int number;
};
struct Defaulted {
  explicit Defaulted(long n) : first(n), second(n) {}
  Defaulted(const Defaulted&) = default;
  ~Defaulted() = default;
  long first, second;
};
struct Large : Trivial {
  long more[4];
};
struct HasBase : Trivial {
  int more;
};
enum class Size : unsigned char { small, big = 200 };

KEPT Made of_made() { return Made(sink); }
KEPT WithVirtual of_virtual() { return WithVirtual(sink); }
KEPT HoldsMade of_holder() { return {Made(sink)}; }
KEPT Trivial of_trivial() { return {sink}; }
KEPT Defaulted of_defaulted() { return Defaulted(sink); }
KEPT Large of_derived() { return {{sink}, {1, 2, 3, 4}}; }
KEPT std::optional<int> of_optional() { return sink; }
KEPT HasBase of_base() { return {{sink}, 4}; }
KEPT std::string_view of_view() { return std::string_view("a text, cut", sink == 27 ? 6 : 0); }
KEPT Size of_size() { return sink == 27 ? Size::big : Size::small; }
KEPT volatile int& of_reference() {
  sink = sink + 0;  // else clang leaves the call out
  return sink;
}
KEPT auto of_auto() { return sink * 2L; }
KEPT void of_void() { sink = sink + 0; }
KEPT double of_double() { return sink; }
KEPT std::string of_string() { return std::string(40, sink == 27 ? 'a' : 'b'); }
KEPT std::unique_ptr<int> of_unique() { return std::make_unique<int>(sink); }

class Cart {
 public:
  KEPT std::string name(int length) const {
    return std::string(static_cast<size_t>(size_ + length), 'c');
  }
  KEPT int size() const { return size_; }

 private:
  int size_ = 30;
};

}  // namespace shop

namespace {

const char* separator = "{";

void tell(const char* name, const std::string& members) {
  printf("%s\"%s\":{%s}", separator, name, members.c_str());
  separator = ",";
}
void tell_number(const char* name, uint64_t number) {
  tell(name, "\"retval\":" + std::to_string(number));
}
void tell_unknown(const char* name, const std::string& why) {
  tell(name, "\"retval\":null,\"retval_is\":\"" + why + "\"");
}
void tell_text(const char* name, const std::string& text) {
  tell(name, "\"retval\":\"" + text + "\"");
}
void check(bool holds) {
  if (!holds) abort();
}

void tell_objects() {
  const shop::Made made = shop::of_made();
  tell_number("of_made", shop::made_at);
  check(made.number() == 27 && shop::made_at == reinterpret_cast<uintptr_t>(&made));
  const shop::WithVirtual with_virtual = shop::of_virtual();
  tell_number("of_virtual", shop::made_at);
  check(with_virtual.get() == 27);
  const shop::HoldsMade holder = shop::of_holder();
  tell_number("of_holder", shop::made_at);
  check(holder.made.number() == 27);
  // Their own addresses: the result is made in place.
  const std::string text = shop::of_string();
  tell_number("of_string", reinterpret_cast<uintptr_t>(&text));
  const std::unique_ptr<int> unique = shop::of_unique();
  tell_number("of_unique", reinterpret_cast<uintptr_t>(&unique));
  const shop::Cart cart;
  const std::string name = cart.name(10);
  tell_number("name", reinterpret_cast<uintptr_t>(&name));
  tell_number("size", static_cast<uint64_t>(cart.size()));
  const shop::Large derived = shop::of_derived();
  tell_number("of_derived", reinterpret_cast<uintptr_t>(&derived));
  check(text.size() + name.size() == 80 && *unique + derived.number == 54);
}

void tell_values() {
  check(shop::of_trivial().number + shop::of_defaulted().second + *shop::of_optional() == 81);
  check(shop::of_double() == 27 && shop::of_base().more == 4);
  tell_text("of_optional", "{_M_payload._M_payload = ?, _M_payload._M_engaged = true}");
  tell_text("of_trivial", "{number = 27}");
  tell_text("of_defaulted", "{first = 27, second = 27}");
  tell_text("of_base", "{number = 27, more = 4}");
  const std::string_view view = shop::of_view();
  char members[80];
  snprintf(members, sizeof members, "{_M_len = 6, _M_str = %p}", view.data());
  tell_text("of_view", members);
  tell_unknown("of_double", "double in xmm0, which no probe sees");
  tell_number("of_size", static_cast<uint64_t>(shop::of_size()));
  tell_number("of_reference", reinterpret_cast<uintptr_t>(&shop::of_reference()));
  tell_number("of_auto", static_cast<uint64_t>(shop::of_auto()));
  shop::of_void();
  tell("of_void", "");
}

}  // namespace

int main() {
  ready_and_wait_for_go();
  printf("done\n");
  tell_objects();
  tell_values();
  printf("}\n");
  wait_for_exit();
}
