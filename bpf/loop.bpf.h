/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Loops. The verifier checks each round of a plain one, so plain loops are short or have
 * few branches. The others are functions that
 * bpf_loop() calls, with their variables in a structure on the stack. Such a function takes one of the eight frames
 * that a program may have.
 *
 * Linux 6.1 checks the function once, with the values before the first round, and removes what these values do not
 * reach; newer kernels repeat that until a round changes nothing. So a variable on which a round depends and that a
 * round changes begins as `unknown_zero`, or lies in a map, whose values the verifier does not know.
 */
#ifndef TRACECTL_LOOP_BPF_H
#define TRACECTL_LOOP_BPF_H

#include "bpf/helpers.bpf.h"

/* What a function that bpf_loop() calls returns. */
enum { NEXT_ROUND, LAST_ROUND };

/*
 * A function that the verifier checks once by itself, and not again at each call. It knows nothing of the
 * arguments, not even that pointers are not null.
 */
#define __on_its_own __attribute__((noinline))

/* Makes later checks apply to the variable that is used, not to a copy that the compiler made of it. */
#define checked_as_used(variable) asm volatile("" : "+r"(variable))

/* All bits of the value if `is` is 1, none if it is 0, without a branch, which the verifier would follow. */
static __attribute__((always_inline)) inline __u64 only_if(__u64 is, __u64 value)
{
	checked_as_used(is);	/* or the compiler would make it a branch */
	return value & -is;
}

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
