// SPDX-License-Identifier: BSD-2-Clause
//
// Tables that are shown again and again.
#pragma once

#include <string>

namespace tracectl {

// Prints a table that takes the place of the one before: on a terminal it is cut to the screen, elsewhere it is printed
// whole, with an empty line behind it.
void print_in_place(const std::string& table);

// Prints the last one whole.
void print_last_in_place(const std::string& table);

}  // namespace tracectl
