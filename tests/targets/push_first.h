// SPDX-License-Identifier: BSD-2-Clause
#pragma once

// For a function, with -fno-omit-frame-pointer: it begins with `push %rbp` even if it is a leaf, so that a
// probe at its entry is `normal`. (g++ 12 omits the frame of a leaf in spite of the option.)
// On other machines than x86-64 it begins as it is compiled.
#ifdef __x86_64__
#define PUSH_FIRST __asm__ volatile("" ::: "rbx")
#else
#define PUSH_FIRST ((void)0)
#endif
