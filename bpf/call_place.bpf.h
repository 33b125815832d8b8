/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The places where a call begins and where it ends, each packed into one word: functions have few parameters. */
#ifndef TRACECTL_CALL_PLACE_BPF_H
#define TRACECTL_CALL_PLACE_BPF_H

#include "bpf/abi.h"
#include "bpf/cpu.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/maps.bpf.h"

/* The place where a call begins, packed into one word: its slot, and these parts. */
enum {
	WAY_SHIFT = 24,		/* 4 bits */
	COST_SHIFT = 28,	/* 4 bits */
	PUSHED_SHIFT = 32,	/* bytes between the stack pointer and the return address */
};

_Static_assert(TC_SLOT_BITS <= WAY_SHIFT, "a slot's number has its bits for itself");

static __always_inline __u64 begin_of(const struct tc_generation *generation, __u32 slot, enum tc_way way)
{
	return (__u64)generation->pushed << PUSHED_SHIFT | (generation->cost & 3) << COST_SHIFT | way << WAY_SHIFT |
	       slot;
}

static __always_inline enum tc_way way_of(__u64 begin)
{
	return begin >> WAY_SHIFT & 15;
}

static __always_inline enum tc_cost_class cost_of(__u64 begin)
{
	return begin >> COST_SHIFT & 15;
}

/* The place of the call's return address, when it begins. */
static __always_inline __u64 return_place(bpf_user_pt_regs_t *ctx, __u64 begin)
{
	return read_register(ctx, TC_STACK_POINTER) + (begin >> PUSHED_SHIFT);
}

/* The place where a call ends, packed into one word: its slot, the way, and the bits of an exit's cookie. */
enum { EXIT_SHIFT = 32 };

static __always_inline __u64 end_of(__u64 cookie, enum tc_way way)
{
	__u64 exit = way == TC_BY_EXITS ? cookie >> TC_COOKIE_EXIT_SHIFT : TC_EXIT_HAS_RETVAL;

	return exit << EXIT_SHIFT | way << WAY_SHIFT | cookie % TC_MAX_SLOTS;
}

/* The place of the call's return address, when it ends: on a trampoline it has been popped. */
static __always_inline __u64 return_place_at_end(bpf_user_pt_regs_t *ctx, __u64 end)
{
	__u64 popped = way_of(end) == TC_BY_TRAMPOLINE ? POPPED_BY_RETURN : 0;

	return read_register(ctx, TC_STACK_POINTER) - popped;
}

#endif
