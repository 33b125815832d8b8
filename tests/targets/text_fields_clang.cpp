// build: -O2 -g -gdwarf-4
// compiler: clang++ -std=c++20
// SPDX-License-Identifier: BSD-2-Clause
#include <string>
#include <string_view>

using Text = std::string;
using View = std::string_view;

#include "tests/targets/text_fields.h"

int main() { return texts::run(); }
