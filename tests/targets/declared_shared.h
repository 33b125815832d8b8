/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A struct that units in C and in C++ define alike: `bool` has two names in their debug information. */
#pragma once

#include <stdbool.h>

struct shared {
  bool open;
  const bool* more;
  int id;
};
