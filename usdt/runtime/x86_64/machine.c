// SPDX-License-Identifier: BSD-2-Clause
#include "usdt/runtime/machine.h"

#include <elf.h>

// clang-format off
const struct image_machine image_machine = {
    .number = EM_X86_64,
    .site_size = 17,
    .site_code = {
        0x90,                                                        // nop
        0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00,  // nop of 10 bytes
        0x0f, 0x1f, 0x44, 0x00, 0x00,                                // nop of 5 bytes
        0xc3,                                                        // ret
        0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc},
    .places = {"%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9",
               "8(%rsp)", "16(%rsp)", "24(%rsp)", "32(%rsp)", "40(%rsp)", "48(%rsp)"}};
// clang-format on
