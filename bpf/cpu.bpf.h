/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What the programs know of the machine that they are compiled for: its registers, how it calls and returns, and where
 * the kernel keeps a thread's pointer. Each of these headers is empty for another machine.
 */
#ifndef TRACECTL_CPU_BPF_H
#define TRACECTL_CPU_BPF_H

#include "bpf/cpu_aarch64.bpf.h"
#include "bpf/cpu_x86_64.bpf.h"
#include "bpf/helpers.bpf.h"

/* A compiler would merge these loads into one at a computed offset, but the verifier requires constant offsets. */
#define CASE_REGISTER(number, name)                                                         \
	case number:                                                                        \
		asm volatile("%0 = *(u64 *)(%1 + %2)"                                       \
			     : "=r"(value)                                                  \
			     : "r"(ctx), "i"(__builtin_offsetof(bpf_user_pt_regs_t, name)));    \
		break;

static __always_inline __u64 read_register(const bpf_user_pt_regs_t *ctx, __u8 number)
{
	__u64 value = 0;

	switch (number) {
	FOR_EACH_REGISTER(CASE_REGISTER)
	}
	return value;
}

#define CASE_OFFSET(number, name) \
	case number:              \
		return __builtin_offsetof(bpf_user_pt_regs_t, name);

/* Where registers are that the kernel has stored, as in a program's context. */
static __always_inline __u32 offset_of_register(__u8 number)
{
	switch (number) {
	FOR_EACH_REGISTER(CASE_OFFSET)
	}
	return 0;
}

#endif
