// SPDX-License-Identifier: BSD-2-Clause
#pragma once

// For a function that saves nothing and has no endbr64: a 5-byte nop as its first instruction, `fast`.
#define NOP5_FIRST __asm__ volatile(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00")
