/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Loops by the kernel's number iterators (Linux 6.4; probes need 6.6). They need no callback, and so none
 * of the eight frames that a program may have. The verifier treats a variable that a loop changes as
 * unknown only if it was unknown before the loop: such variables begin as `unknown_zero`.
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
 * A function that the verifier checks once by itself, and not again at each call. It knows nothing of the
 * arguments, not even that pointers are not null.
 */
#define __on_its_own __attribute__((noinline))

/* Makes later checks apply to the variable that is used, not to a copy that the compiler made of it. */
#define checked_as_used(variable) asm volatile("" : "+r"(variable))

__u32 always_zero;
#define unknown_zero (*(volatile __u32 *)&always_zero)

/*
 * The place after one that is at most 127. For a variable that only grows the verifier knows a least value,
 * which is greater in each round, so it checks every round; for this one it knows none.
 */
static __attribute__((always_inline)) inline __u64 next_place(__u64 place)
{
	place++;
	checked_as_used(place);		/* or the compiler would remove the next line */
	return place & 127;
}

#endif
