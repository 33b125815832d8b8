/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The calls that are open, by thread or goroutine and session, the innermost last. A call is identified by the place
 * of its return address on the stack: no other call on that stack has its own there at the same time.
 *
 * A call can end without an observed return: by an exception, by longjmp, with its thread. It is closed
 * as unwound once that is certain, and never before:
 *  - another call of the thread has its return address there, or further up on the same stack;
 *  - or the address there is not the call's own.
 * If stacks are switched, as coroutines do, only the second tells: the calls of an inactive stack stay
 * open. The only stack that is recognized is the one that a thread began on (on_own_stack).
 *
 * A goroutine has one stack, so the first rule is enough (bpf/goroutine.bpf.h). If it ends within calls, they are closed
 * by those of the goroutine that gets its memory, or when the process ends.
 *
 * On aarch64 the place is the stack pointer when the call begins, because the address is in a register; a function that
 * calls another has moved it. There the second rule does not exist.
 */
#ifndef TRACECTL_CALLS_BPF_H
#define TRACECTL_CALLS_BPF_H

#include "bpf/abi.h"
#include "bpf/callers.bpf.h"
#include "bpf/chunks.bpf.h"
#include "bpf/cpu.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/off_cpu.bpf.h"
#include "bpf/own_stack.bpf.h"
#include "bpf/probe_time.bpf.h"
#include "bpf/shares.bpf.h"

static __always_inline bool on_own_stack(const struct calls *calls, __u64 address)
{
	return is_on(&calls->stack, address);
}

/* Where the return address of an open call is now. */
static __always_inline __u64 address_of(const struct calls *calls, const struct call *call)
{
	return call->sp + calls->stack_top;
}

/*
 * Whether the call has ended, judged when another one begins or ends with its return address at sp. If a
 * function with a trampoline jumps to its own start, its calls follow each other at the same place, and
 * all of them return.
 */
static __always_inline bool is_over(const struct calls *calls, const struct call *call, __u64 sp,
				    bool begins)
{
	if (!call)
		return false;
	if (call->sp >= sp)
		return call->sp == sp && begins && call->way == TC_BY_EXITS;
	if (on_own_stack(calls, call->sp) && on_own_stack(calls, sp))
		return true;
	if (call->way == TC_BY_TRAMPOLINE)
		return false;
	return is_returned_from(address_of(calls, call), call->return_address);
}

static __always_inline struct deep_key block_of(const struct calls *calls, __u64 index)
{
	return (struct deep_key){ .caller = calls->caller, .block = index / TC_NEAR_CALLS };
}

static __noinline struct call *deep_call_at(const struct calls *calls, __u64 index)
{
	struct deep_key key = block_of(calls, index);
	struct deep_calls *block = bpf_map_lookup_elem(&deep_callers, &key);

	return block ? &block->open[index & (TC_NEAR_CALLS - 1)] : 0;
}

/* An open call, or the place after the last one once it has room. */
static __always_inline struct call *call_at(const struct calls *calls, __u64 index)
{
	index ^= unknown_zero;	/* or the verifier would check each value of a loop's variable */
	if (index < TC_NEAR_CALLS)
		return (struct call *)&calls->open[index & (TC_NEAR_CALLS - 1)];
	return deep_call_at(calls, index);
}

/* Like put_calls(). */
static __always_inline bool put_deep_calls(const struct deep_key *key)
{
	bool is_new = !bpf_map_lookup_elem(&deep_callers, key);

	if (is_new && !take_room_for(key->caller.session, TC_TABLE_DEEP_BLOCKS))
		return false;
	if (!bpf_map_update_elem(&deep_callers, key, &no_deep_calls, BPF_ANY))
		return true;
	if (is_new)
		give_room_of(key->caller.session, TC_TABLE_DEEP_BLOCKS);
	return false;
}

/* The place for one more call; null if there is no room. */
static __always_inline struct call *next_call(struct calls *calls)
{
	struct deep_key key = block_of(calls, calls->depth);

	if (calls->depth >= TC_MAX_DEPTH)
		return 0;
	if (key.block > calls->blocks) {
		if (!put_deep_calls(&key))
			return 0;
		calls->blocks = key.block;
	}
	return call_at(calls, calls->depth);
}

static __always_inline void forget_deep_calls(const struct calls *calls)
{
	__u32 block;

	for (block = 1; block < TC_MAX_DEPTH / TC_NEAR_CALLS; block++) {
		struct deep_key key = block_of(calls, 0);

		if (block > calls->blocks)
			break;
		key.block = block;
		if (!bpf_map_delete_elem(&deep_callers, &key))
			give_room_of(key.caller.session, TC_TABLE_DEEP_BLOCKS);
	}
}

enum { NO_CALL = TC_MAX_DEPTH };

/* A search from the innermost call on, for one that is over. */
struct over_search {
	const struct calls *calls;
	__u64 sp;
	__u64 place;
	bool begins, found;
};

static long over_round(__u32 round, struct over_search *search)
{
	search->found = is_over(search->calls, call_at(search->calls, search->place), search->sp,
				search->begins);
	if (search->found || !search->place)
		return LAST_ROUND;
	search->place--;
	return NEXT_ROUND;
}

/*
 * A call that is over, the innermost first, or NO_CALL. Calls of one stack end in their order: if only
 * the stack that the thread began on is concerned, it is enough to check the innermost. With other stacks
 * TC_NEAR_CALLS are checked, so that a hit stays cheap; further ones are found when those have ended.
 */
__on_its_own __u64 find_over(const struct calls *calls, __u64 sp, bool begins)
{
	struct over_search search = { .calls = calls, .sp = sp, .begins = begins };
	const struct call *innermost;

	if (!calls || !calls->depth)
		return NO_CALL;
	search.place = calls->depth - 1;
	innermost = call_at(calls, search.place);
	if (is_over(calls, innermost, sp, begins))
		return search.place;
	if (!innermost || (on_own_stack(calls, sp) && on_own_stack(calls, innermost->sp)))
		return NO_CALL;
	search.found = unknown_zero;
	bpf_loop(TC_NEAR_CALLS, over_round, &search, 0);
	return search.found ? search.place : NO_CALL;
}

/* Calls that each take the place of the one around it. */
struct moving {
	struct calls *calls;
	__u64 place, last;
};

static long move_round(__u32 round, struct moving *moving)
{
	__u64 i = moving->place;
	struct call *to, *from;

	if (i >= moving->last)
		return LAST_ROUND;
	to = call_at(moving->calls, i);
	from = call_at(moving->calls, i + 1);
	if (!to || !from)
		return LAST_ROUND;
	*to = *from;
	moving->place = i + 1;
	return NEXT_ROUND;
}

/* Makes the call the innermost, after those that are open on other stacks. */
__on_its_own int make_innermost(struct calls *calls, __u64 i)
{
	struct moving moving = { .calls = calls, .place = i };
	struct call moved;
	struct call *to;

	if (!calls || i + 1 >= calls->depth)
		return 0;
	moving.last = calls->depth - 1;
	to = call_at(calls, i);
	if (!to)
		return 0;
	moved = *to;
	bpf_loop(TC_MAX_DEPTH, move_round, &moving, 0);
	to = call_at(calls, moving.last);
	if (to)
		*to = moved;
	return 0;
}

/* The call as in tc_end.call. It is the innermost of the open ones. */
static __always_inline __u64 mark_of(const struct calls *calls, const struct call *call)
{
	return (__u64)calls->graph_depth << 32 | call->number;
}

/*
 * The time of a call that ends at the present hit, and what the probes took besides (bpf/probe_time.bpf.h). The costs of
 * the kernel are estimates, so the call never takes less than the calls within it. (On the stacks of coroutines these
 * overlap, and say nothing.)
 */
static __always_inline void time_of(const struct calls *calls, const struct call *call,
				    struct ended *ended)
{
	__u64 passed_ns = passed(call->began_ns, calls->hit_ns);
	__u64 probes_ns = calls->probes_ns - call->probes_ns + cost_between(call->way, call->cost);
	__u64 most_ns = call->within_ns < passed_ns ? passed_ns - call->within_ns : passed_ns;

	ended->probes_ns = probes_ns < most_ns ? probes_ns : most_ns;
	ended->duration_ns = passed_ns - ended->probes_ns;
}

/*
 * Removes the innermost call, which ends at calls->hit_ns, and fills `ended` except kind and return value.
 * Its duration is added to within_ns of the call around it. False if the call is not there.
 */
__on_its_own bool end_innermost(struct calls *calls)
{
	struct ended *ended;
	struct call *call, *around;
	__u64 depth;

	if (!calls)
		return false;
	depth = calls->depth - 1;
	call = call_at(calls, depth);
	ended = &calls->ended;
	calls->depth = depth;
	if (!call)
		return false;
	time_of(calls, call, ended);
	/* Calls on the stacks of coroutines overlap, so those within may take longer together than the call. */
	ended->self_ns = call->within_ns < ended->duration_ns ?
				 ended->duration_ns - call->within_ns : 0;
	ended->is_split = false;
	if (call->off_cpu.unseen != TC_NOT_SPLIT)
		split_duration(ended, &call->off_cpu, calls->hit_ns);
	ended->return_address = call->return_address;
	ended->path = call->path;
	ended->args = call->args;
	calls->trampolines -= call->way == TC_BY_TRAMPOLINE;
	calls->graph_depth -= call->is_of_graph;
	ended->call = call->is_of_graph ? mark_of(calls, call) : 0;
	if (!depth)
		return true;
	around = call_at(calls, depth - 1);
	if (around && around->sp >= call->sp && around->began_ns <= call->began_ns)
		around->within_ns += ended->duration_ns;
	return true;
}

/* Finds the hook with this serial number among those in force; false if it is gone. */
__on_its_own bool find_hook(__u64 under, __u32 slot, __u32 serial, struct tc_hook *found)
{
	const struct tc_slot *of = slot_of(slot);
	const struct tc_hook *hook;
	__u32 next, i;

	if (!found || !of || !of->generation[under & 1].hook_count)
		return false;
	*found = of->generation[under & 1].first;
	for (i = 0; i < TC_MAX_HOOKS_OF_SLOT; i++) {
		if (found->flags >> TC_SERIAL_SHIFT == serial)
			break;
		next = found->next;
		if (!next)
			break;
		hook = further_hook(next);
		if (!hook)
			break;
		*found = *hook;
	}
	return found->flags & TC_CALL && found->flags >> TC_SERIAL_SHIFT == serial;
}

/* Ends it as a call that has not returned. False if no hook follows it any more. */
__on_its_own bool unwind_innermost(struct calls *calls, __u64 under)
{
	const struct call *call;
	__u32 slot, serial;

	if (!calls)
		return false;
	call = call_at(calls, calls->depth - 1);
	if (!call)
		return false;
	slot = call->slot;
	serial = call->serial;
	calls->ended.kind = TC_RECORD_UNWOUND;
	calls->ended.has_retval = false;
	calls->ended.retval = 0;
	calls->ended.second_retval = 0;
	return end_innermost(calls) && find_hook(under, slot, serial, &calls->ended_for);
}

#endif
