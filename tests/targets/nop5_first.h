// SPDX-License-Identifier: BSD-2-Clause
#pragma once

// For a function that saves nothing and has no endbr64: a 5-byte nop as its first instruction, `fast`.
// On other machines than x86-64, which have no such nop, it begins as it is compiled.
#ifdef __x86_64__
#define NOP5_FIRST __asm__ volatile(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00")
#else
#define NOP5_FIRST ((void)0)
#endif
