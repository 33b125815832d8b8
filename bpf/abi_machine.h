/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Numbers of registers on the machine that this is compiled for: those of its instruction set, then one for the address
 * of the probed instruction. Part of bpf/abi.h.
 */
#ifndef TRACECTL_ABI_MACHINE_H
#define TRACECTL_ABI_MACHINE_H

#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)

enum {
	TC_RESULT = 0,		/* x0 */
	TC_SECOND_RESULT = 1,	/* x1: of a struct of more than 8 bytes */
	TC_FRAME_POINTER = 29,	/* x29 */
	TC_LINK = 30,		/* x30: the return address at a function's entry */
	TC_STACK_POINTER = 31,
	TC_INSTRUCTION_POINTER = 32,
	TC_NO_REGISTER = 33,
	TC_RED_ZONE = 0,	/* bytes below the stack pointer that a function may use */
};

#else

enum {
	TC_RESULT = 0,		/* rax */
	TC_SECOND_RESULT = 2,	/* rdx: of a struct of more than 8 bytes */
	TC_STACK_POINTER = 4,	/* rsp */
	TC_FRAME_POINTER = 5,	/* rbp */
	TC_INSTRUCTION_POINTER = 16,
	TC_NO_REGISTER = 17,
	TC_RED_ZONE = 128,	/* bytes below the stack pointer that a function may use */
};

#endif

#endif
