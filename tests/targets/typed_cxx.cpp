// build: -O2
// SPDX-License-Identifier: BSD-2-Clause
//
// typed_cxx [ROUNDS]
//
// See typed.h; and features of C++ only: text that does not end with a 0, enumerations with a type, probes in
// namespaces, templates and functions that are evaluated at compile time.
#include <string>
#include <string_view>

#include "tests/targets/typed.h"

namespace shop {
enum class Size : uint8_t { small, large = 3 };
TRACECTL_PROBE_DECLARE(typed, order, (std::string_view, customer), (Size, size),
                       (std::string_view, note), (bool, is_paid), (const std::string&, address));
TRACECTL_PROBE_DECLARE(typed, squared, (int64_t, of));

static uint64_t order_enabled, order_computed, squared_computed;

// A part of a longer text.
std::string_view customer() {
  ++order_computed;
  return std::string_view{"Ada Lovelace"}.substr(0, 3);
}

__attribute__((noinline)) static void pass_order(const std::string& address) {
  const bool is_enabled = TRACECTL_PROBE_ENABLED(typed, order);  // a constant to no compiler
  order_enabled += is_enabled;
  TRACECTL_PROBE(typed, order, customer(), Size::large, std::string_view{}, true, address);
}

template <class T> constexpr T squared(T x) {
  if (!__builtin_is_constant_evaluated() && TRACECTL_PROBE_ENABLED(typed, squared))
    ++squared_computed;
  TRACECTL_PROBE(typed, squared, static_cast<int64_t>(x));
  return x * x;
}
static_assert(squared(3) == 9);
}  // namespace shop

int main(int argc, char** argv) {
  const uint64_t rounds = argc > 1 ? strtoull(argv[1], nullptr, 10) : 10;
  static int object;
  ready_and_wait_for_go();
  uint64_t wrong = pass_all(rounds, &object);
  const std::string address(100, 'a');
  for (uint64_t n = 0; n < rounds; ++n) {
    shop::pass_order(address);
    const auto x = static_cast<int>(n % 1000);
    wrong += shop::squared(x) != x * x;
    wrong += shop::squared(static_cast<int16_t>(-2)) != 4;
  }
  wrong += shop::order_enabled != shop::order_computed;
  printf("done\n{\"wrong\":%" PRIu64 ",\"probes\":{", wrong);
  print_all(rounds, &object);
  print_probe("order", shop::order_computed,
              ("\"Ada\",3,3,\"\",0,1,\"" + address.substr(0, 64) + "\",100").c_str());
  print_probe("squared", shop::squared_computed, "-2");
  printf("\"end\":{\"hits\":0,\"args\":[]}}}\n");
  wait_for_exit();
}
