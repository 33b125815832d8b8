/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Goroutines. Threads run them by turns, so a call may end in another thread than it began in. Go's runtime has one
 * struct g for each (src/runtime/runtime2.go), which begins with the bounds of its stack, and functions by ABIInternal
 * have the address of this struct in a register.
 *
 * A stack that is too small is copied to another place. Then the distance of each frame from the stack's top stays the
 * same, so places on it are kept as such distances.
 */
#ifndef TRACECTL_GOROUTINE_BPF_H
#define TRACECTL_GOROUTINE_BPF_H

#include "bpf/cpu.bpf.h"
#include "bpf/helpers.bpf.h"

struct goroutine {
	__u64 address;
	__u64 stack_low, stack_high;
};

/* False if the thread runs no goroutine: it is not on the stack that the register leads to. */
static __always_inline bool find_goroutine(bpf_user_pt_regs_t *ctx, struct goroutine *goroutine)
{
	__u64 sp = read_register(ctx, TC_STACK_POINTER);

	goroutine->address = read_register(ctx, GOROUTINE_REGISTER);
	if (bpf_probe_read_user(&goroutine->stack_low, 2 * sizeof(goroutine->stack_low),
				(const void *)goroutine->address))
		return false;
	return sp > goroutine->stack_low && sp <= goroutine->stack_high;
}

#endif
