// SPDX-License-Identifier: BSD-2-Clause
//
// What files with probes say of the machine. The folder of each machine defines it.
#pragma once

#include <stdint.h>
#include <tracectl/runtime.h>

#include "usdt/runtime/image.h"

struct image_machine {
  uint16_t number;                              // e_machine of ELF headers
  uint16_t site_size;                           // of the code of a site, in bytes
  uint8_t site_code[IMAGE_SITE_STRIDE];         // as in <tracectl/usdt.h>, and what fills the rest
  const char* places[TRACECTL_MOST_ARGUMENTS];  // of arguments at a site, as notes write them
};
extern const struct image_machine image_machine;
