// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/text_fields_libcxx_named.h"

using Text = std::string;
using View = std::string_view;

#include "tests/targets/text_fields.h"

int main() { return texts::run(); }
