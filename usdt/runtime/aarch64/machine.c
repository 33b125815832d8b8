// SPDX-License-Identifier: BSD-2-Clause
#include "usdt/runtime/machine.h"

#include <elf.h>

// clang-format off
const struct image_machine image_machine = {
    .number = EM_AARCH64,
    .site_size = 8,
    .site_code = {0x1f, 0x20, 0x03, 0xd5,   // nop
                  0xc0, 0x03, 0x5f, 0xd6},  // ret
    .places = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7",
               "[sp]", "[sp, 8]", "[sp, 16]", "[sp, 24]"}};
// clang-format on
