// build: -O1 -g -stdlib=libc++ -D_LIBCPP_ABI_ALTERNATE_STRING_LAYOUT -D_LIBCPP_DISABLE_EXTERN_TEMPLATE
// compiler: clang++ -std=c++20
// SPDX-License-Identifier: BSD-2-Clause
//
// The layout of libc++ that has the characters first; the library itself has the other one, so nothing of it is used.
#include <string>
#include <string_view>

using Text = std::string;
using View = std::string_view;

#include "tests/targets/text_fields.h"

int main() { return texts::run(); }
