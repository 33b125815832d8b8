/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Where a call ends. */
#ifndef TRACECTL_LEAVES_BPF_H
#define TRACECTL_LEAVES_BPF_H

#include "bpf/abi.h"
#include "bpf/call_place.bpf.h"
#include "bpf/calls.bpf.h"
#include "bpf/chunks.bpf.h"
#include "bpf/cpu.bpf.h"
#include "bpf/delay.bpf.h"
#include "bpf/ends.bpf.h"
#include "bpf/gate.bpf.h"
#include "bpf/goroutine.bpf.h"
#include "bpf/held.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/off_cpu.bpf.h"
#include "bpf/probe_time.bpf.h"
#include "bpf/unwound.bpf.h"

/* Whether no call whose return address is at sp can be around this one. */
static __always_inline bool is_further_out(const struct calls *calls, const struct call *call, __u64 sp)
{
	return call->sp > sp && on_own_stack(calls, sp) && on_own_stack(calls, call->sp);
}

/* A search from the innermost call on, for the one that ends. */
struct call_search {
	const struct calls *calls;
	__u64 sp;
	__u64 place;
	__u32 slot, serial;
	bool found;
};

static long call_round(__u32 round, struct call_search *search)
{
	const struct call *call = call_at(search->calls, search->place);

	if (!call || is_further_out(search->calls, call, search->sp))
		return LAST_ROUND;
	search->found = call->sp == search->sp && call->slot == search->slot &&
			call->serial == search->serial;
	if (search->found || !search->place)
		return LAST_ROUND;
	search->place--;
	return NEXT_ROUND;
}

/* The call with its return address at sp that this hook follows; NO_CALL if there is none. */
__on_its_own __u64 find_call(const struct calls *calls, __u64 sp, __u32 slot, __u32 serial)
{
	struct call_search search = { .calls = calls, .sp = sp, .slot = slot, .serial = serial };

	if (!calls || !calls->depth)
		return NO_CALL;
	search.place = calls->depth - 1;
	search.found = unknown_zero;
	bpf_loop(TC_NEAR_CALLS, call_round, &search, 0);
	return search.found ? search.place : NO_CALL;
}

/* The target of the jump that ends the call; 0 if it is not known, or the call ends by a return. */
static __always_inline __u64 jumps_to(bpf_user_pt_regs_t *ctx, __u64 end)
{
	return jump_target(ctx, end >> (EXIT_SHIFT + TC_EXIT_LENGTH_SHIFT) & TC_EXIT_LENGTH_MASK);
}

/* Ends the call of the hook that returns now, if it was followed. `end`: by end_of(). */
static __always_inline void end_call(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
				     struct calls *calls, __u64 under, __u64 end)
{
	__u64 sp = return_place_at_end(ctx, end) - calls->stack_top, call;
	struct ended *ended;

	call = find_call(calls, sp, end % TC_MAX_SLOTS, hook->flags >> TC_SERIAL_SHIFT);
	if (call == NO_CALL)
		return;
	make_innermost(calls, call);
	ended = &calls->ended;
	ended->kind = TC_RECORD_RETURN;
	ended->has_retval = !!(end >> EXIT_SHIFT & TC_EXIT_HAS_RETVAL);
	ended->retval = ended->has_retval ? read_register(ctx, TC_RESULT) : 0;
	ended->second_retval = ended->has_retval ? read_register(ctx, TC_SECOND_RESULT) : 0;
	if (!end_innermost(calls))
		return;
	/* Not for a call for whose end records wait: the target runs after the decision on them. */
	calls->jumped_to = ended->call && !calls->graph_depth && !calls->held_call ? jumps_to(ctx, end)
										   : 0;
	calls->jumped_sp = sp;
	/* On a trampoline the instruction pointer is the return address already. */
	if (!ended->return_address)
		ended->return_address = read_register(ctx, TC_INSTRUCTION_POINTER);
	act_on_end(ctx, hook, calls, under, ended);
}

/*
 * Ends what a hook does where a call ends: the time of the hit is not that of the calls around. Of several hooks of the
 * session the last one has seen all of it.
 */
__on_its_own int leave_out_end(struct calls *calls, __u64 end)
{
	__u64 jumps = !(end >> EXIT_SHIFT & TC_EXIT_HAS_RETVAL);

	if (!calls || !calls->depth)
		return 0;
	calls->left_out_ns = time_of_hit(calls->hit_ns, bpf_ktime_get_boot_ns()) + cost_of_end(way_of(end), jumps);
	calls->probes_ns += calls->left_out_ns;
	return 0;
}

/* The call that ends at a hit began before it: what an earlier hook has left out for the hit is not of the call. */
static __always_inline void begin_end(struct calls *calls, __u64 hit_ns)
{
	if (calls->hit_ns == hit_ns)
		calls->probes_ns -= calls->left_out_ns;
	calls->hit_ns = hit_ns;
	calls->left_out_ns = 0;
}

__on_its_own int leave_by(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook, __u64 under, __u64 end, __u64 hit_ns)
{
	struct calls *calls;

	if (!hook || !(hook->flags & TC_CALL))
		return 0;
	calls = calls_by(ctx, hook);
	if (!calls)
		return 0;
	begin_end(calls, hit_ns);
	close_unwound(ctx, calls, under, return_place_at_end(ctx, end) - calls->stack_top, false);
	end_call(ctx, hook, calls, under, end);
	leave_out_end(calls, end);
	forget_idle_goroutine(calls);
	return 0;
}

/* Runs all hooks of the slot: those that follow the call find it. */
static __always_inline void leave(bpf_user_pt_regs_t *ctx, __u64 end)
{
	const struct tc_generation *generation;
	const struct tc_slot *slot = slot_of(end);
	const struct tc_hook *hook;
	__u64 hit_ns = bpf_ktime_get_boot_ns(), under;
	__u32 next, i;

	under = *(volatile __u64 *)&epoch;
	test_delay();
	if (!slot)
		return;
	generation = &slot->generation[under & 1];
	if (!generation->hook_count)
		return;
	next = generation->first.next;
	leave_by(ctx, &generation->first, under, end, hit_ns);
	if (!next)
		return;
	for (i = 0; i < TC_MAX_HOOKS_OF_SLOT; i++) {
		hook = take_next_hook(&next);
		if (!hook)
			break;
		leave_by(ctx, hook, under, end, hit_ns);
	}
}

#endif
