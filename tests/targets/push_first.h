// SPDX-License-Identifier: BSD-2-Clause
#pragma once

// For a function, with -fno-omit-frame-pointer: it begins with `push %rbp` even if it is a leaf, so that a
// probe at its entry is `normal`. (g++ 12 omits the frame of a leaf in spite of the option.)
#define PUSH_FIRST __asm__ volatile("" ::: "rbx")
