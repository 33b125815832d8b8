// build: -O0 -g -gdwarf-4 -fcf-protection=none -D_LIBCPP_ABI_ALTERNATE_STRING_LAYOUT
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/text_fields_libcxx_named.h"

using Text = std::string;
using View = std::string_view;

#include "tests/targets/text_fields.h"

int main() { return texts::run(); }
