// build: -O0 -g -fcf-protection=none -D_GLIBCXX_USE_CXX11_ABI=0
// SPDX-License-Identifier: BSD-2-Clause
//
// text_fields_odd
//
// Strings that are refused: of libstdc++'s old kind, and of a class that only has the name.
#include <string>

#include "stdin_protocol.h"

namespace other {
template <class Char> struct basic_string { Char* text = nullptr; };
}  // namespace other

volatile unsigned long sink;

__attribute__((noipa, used)) void odd(const std::string& old,
                                      const other::basic_string<char>& named) {
  sink = old.size() + (named.text != nullptr);
}

int main() {
  ready_and_wait_for_go();
  odd("old", {});
  printf("done\n{}\n");
  wait_for_exit();
}
