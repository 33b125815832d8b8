// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>

namespace tracectl {

// How this process shows text on its standard output, for people.
struct Display {
  bool linkage_names = false;  // functions by the names of their symbols, which C++ and Rust mangle
  size_t columns = 0;          // of the terminal; 0: the output is none, and is never cut
};

const Display& display();
void set_display(const Display& display);

}  // namespace tracectl
