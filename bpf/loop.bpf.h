/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Loops of the kernel's own number iterators (Linux 6.4; probes need 6.6): no callback, so no frame
 * of the eight that a program may have. The verifier takes what a loop changes for unknown only if it
 * did not know it before the loop either: such variables begin as `unknown_zero`.
 */
#ifndef TRACECTL_LOOP_BPF_H
#define TRACECTL_LOOP_BPF_H

#include "bpf/helpers.bpf.h"

struct bpf_iter_num {
	__u64 opaque[1];
} __attribute__((aligned(8)));

extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym;

/*
 * A function that the verifier checks by itself, once, and not again wherever it is called: it knows
 * nothing of what it is given, that pointers are none included.
 */
#define __on_its_own __attribute__((noinline))

/* What is checked from here on is the very variable that is used: no copy of it in another form. */
#define checked_as_used(variable) asm volatile("" : "+r"(variable))

__u32 always_zero;
#define unknown_zero (*(volatile __u32 *)&always_zero)

/*
 * The place behind one of at most 127. Of a variable that only grows the verifier knows the least value
 * it can have, a greater one each time round, and so checks the loop as often; of this it knows none.
 */
static __attribute__((always_inline)) inline __u64 next_place(__u64 place)
{
	place++;
	checked_as_used(place);		/* or the compiler would leave out what follows */
	return place & 127;
}

#endif
