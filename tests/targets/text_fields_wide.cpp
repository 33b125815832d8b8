// build: -O0 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// text_fields_wide
//
// Strings of other characters, which are refused.
#include <string>
#include <string_view>

#include "stdin_protocol.h"

volatile unsigned long sink;

__attribute__((noipa, used)) void wide(const std::wstring& wide, const std::u16string& wider,
                                       const std::u8string_view& view) {
  sink = wide.size() + wider.size() + view.size();
}

int main() {
  ready_and_wait_for_go();
  wide(L"wide", u"wider", u8"view");
  printf("done\n{}\n");
  wait_for_exit();
}
