// SPDX-License-Identifier: BSD-2-Clause
#pragma once

// In a function that has nothing to save and no endbr64: a 5-byte nop at its very entry, `fast`.
#define NOP5_FIRST __asm__ volatile(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00")
