/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Sites whose hooks have to do when the call returns as well. They are served by programs of their
 * own, loaded when they are first needed, in one of two ways:
 *
 *   on_call_and_return      by the kernel's return trampoline, in a uprobe session
 *   on_call, on_leave       by probes on the instructions by which the function leaves
 *
 * The calls themselves are kept alike (bpf/calls.bpf.h). What a hook has to say is said by the hook
 * that is in force when the call ends, if it is the one under which it began.
 */
#ifndef TRACECTL_RETURNS_BPF_H
#define TRACECTL_RETURNS_BPF_H

extern bool bpf_session_is_return(void) __ksym __weak;

#include "bpf/ends.bpf.h"
#include "bpf/jumps.bpf.h"

/* Closes calls of the thread that are over though they have not returned. */
__on_its_own int close_unwound(bpf_user_pt_regs_t *ctx, struct calls *calls, __u64 under, __u64 sp,
			       bool begins)
{
	struct ended ended = { .kind = TC_RECORD_UNWOUND };
	struct bpf_iter_num steps;
	struct tc_hook hook;

	if (!calls)
		return 0;
	bpf_iter_num_new(&steps, 0, TC_MAX_DEPTH);
	while (bpf_iter_num_next(&steps)) {
		__u64 over = find_over(calls, sp, begins);

		if (over == NO_CALL)
			break;
		make_innermost(calls, over);
		if (end_innermost_for(calls, under, &ended, &hook))
			act_on_end(ctx, &hook, calls, under, &ended);
	}
	bpf_iter_num_destroy(&steps);
	return 0;
}

/* ---- where a call begins ---- */

static __always_inline void keep_args(struct call *call, bpf_user_pt_regs_t *ctx, __u32 layout)
{
	struct machine machine = { .ctx = ctx };
	__u32 i;

	call->arg_valid = 0;
	machine.layout = bpf_map_lookup_elem(&layouts, &layout);
	if (!machine.layout)
		return;
	for (i = 0; i < TC_CALL_ARGS; i++) {
		__u64 value = 0;

		if (i < machine.layout->arg_count && load_arg(&machine, i, false, &value))
			call->arg_valid |= 1 << i;
		call->args[i] = value;
	}
}

/* Never 0. */
static __always_inline __u32 next_number(struct calls *calls)
{
	calls->last_number++;
	calls->last_number += !calls->last_number;
	return calls->last_number;
}

/* How a call is kept: beside the slot of its function. */
enum { WAY_SHIFT = 16, OF_GRAPH = 1 << 24, PUSHED_SHIFT = 32 };

_Static_assert(TC_MAX_SLOTS <= 1 << WAY_SHIFT, "a slot's number has its bits for itself");

/*
 * Keeps the call of a hook as the innermost; `at` is its slot, and how it is kept, `whose` its source
 * and its serial number. The call as tc_end has it, or 0 if it is cut.
 */
__on_its_own __u64 open_call(bpf_user_pt_regs_t *ctx, struct calls *calls, __u64 code, __u64 at,
			     __u64 whose)
{
	__u32 spec_index = code;
	const struct tc_spec *spec = bpf_map_lookup_elem(&specs, &spec_index);
	__u8 way = at >> WAY_SHIFT;
	struct call *call;
	__u64 mark;

	if (!spec || !calls || (way == BY_TRAMPOLINE && calls->trampolines >= TC_MAX_TRAMPOLINES))
		return 0;
	call = next_call(calls);
	if (!call)
		return 0;
	call->sp = read_register(ctx, 4) + (__u32)(at >> PUSHED_SHIFT);
	call->slot = (__u16)at;
	call->serial = whose;
	call->way = way;
	call->is_of_graph = !!(at & OF_GRAPH);
	call->number = next_number(calls);
	call->path = path_of(calls, spec, whose >> 32);
	call->within_ns = 0;
	call->return_address = 0;
	call->arg_valid = 0;
	if (way == BY_EXITS)
		bpf_probe_read_user(&call->return_address, sizeof(call->return_address),
				    (const void *)call->sp);
	if (spec->at_return & TC_KEEP_ARGS)
		keep_args(call, ctx, code >> 32);
	mark = mark_of(calls, call);
	calls->depth++;
	calls->trampolines += way == BY_TRAMPOLINE;
	calls->graph_depth += call->is_of_graph;
	call->began_ns = bpf_ktime_get_boot_ns();
	return mark;
}

static __always_inline __u64 follow(struct hit *hit, const struct tc_hook *hook,
				    struct calls *calls, enum way way)
{
	__u64 pushed = slots[hit->slot % TC_MAX_SLOTS].generation[hit->epoch & 1].pushed;
	__u64 at = pushed << PUSHED_SHIFT | hit->slot | way << WAY_SHIFT;
	__u64 whose = (__u64)hook->source << 32 | hook->flags >> TC_SERIAL_SHIFT;
	__u64 call;

	if (!calls)
		calls = begin_calls(hook->session);
	if (hook->flags & TC_IN_GRAPH)
		at |= OF_GRAPH;
	call = open_call(hit->ctx, calls, code_of(hook), at, whose);
	hit->followed |= call != 0;
	return call;
}

static __always_inline __u64 follow_by_exits(struct hit *hit, const struct tc_hook *hook,
					     struct calls *calls)
{
	return follow(hit, hook, calls, BY_EXITS);
}

static __always_inline __u64 follow_by_trampoline(struct hit *hit, const struct tc_hook *hook,
						  struct calls *calls)
{
	return follow(hit, hook, calls, BY_TRAMPOLINE);
}

/* Of the outermost call of a graph: whether all that the graph shows waits for its end. */
static __always_inline bool begins_to_wait(const struct tc_hook *hook, const struct tc_spec *spec,
					   const struct calls *calls, __u32 call)
{
	if (spec->at_return & TC_KEEP_IF)
		return wait_for(hook->session, call);
	if (calls && calls->held_call)
		wait_for(hook->session, 0);	/* it was one whose end nobody was to see */
	return false;
}

/* A call of a root of the graph, or of a function below. */
static __always_inline void act_on_graph_call(struct hit *hit, const struct tc_hook *hook,
					      struct tc_stat *stat, struct calls *calls,
					      follow_call follow_it)
{
	__u32 index = hook->spec, depth = graph_depth_of(calls);
	const struct tc_spec *spec = bpf_map_lookup_elem(&specs, &index);
	__u64 call;
	bool waits;

	if (!spec)
		return;
	if ((spec->graph_depth && depth >= spec->graph_depth) ||
	    (!depth && !is_taken(hit, hook, spec, ASK_THE_MACHINE))) {
		__sync_fetch_and_add(&stat->filtered, 1);
		return;
	}
	call = follow_it(hit, hook, calls);
	if (!call)
		count_cut(hook->stat);
	waits = depth ? calls && calls->held_call : begins_to_wait(hook, spec, calls, call);
	if (!(spec->at_return & TC_RETURN_EVENT) || (!call && spec->at_return & TC_KEEP_IF))
		return;
	if (waits)
		hold_hit(hit, hook, stat, call ?: (__u64)depth << 32);
	else
		stream_hit(hit, hook, stat, call ?: (__u64)depth << 32);
}

static __always_inline void act_and_follow(struct hit *hit, const struct tc_hook *hook,
					   struct calls *calls, follow_call follow_it)
{
	struct tc_stat *stat = stat_of(hook);

	if (!stat || is_shut(hook))
		return;
	test_delay();
	__sync_fetch_and_add(&stat->hits, 1);
	if (is_outside_graph(hook, calls) && !is_jumped_to(calls, hit))
		__sync_fetch_and_add(&stat->filtered, 1);
	else if (hook->flags & TC_PAIR)
		act_on_pair(hit->ctx, hook, hit->epoch);
	else if (hook->flags & TC_IN_GRAPH)
		act_on_graph_call(hit, hook, stat, calls, follow_it);
	else if (hook->spec)
		act_by_spec(hit, hook, stat, calls, ASK_THE_MACHINE, follow_it);
	else if (hook->flags & TC_EVENT)
		show_hit(hit, hook, stat);
}

static __always_inline bool run_hook_of_call(struct hit *hit, const struct tc_hook *hook,
					     follow_call follow_it)
{
	struct calls *calls;

	if (!takes(hook, hit))
		return false;
	calls = calls_for(hook);
	if (calls && hook->flags & TC_CALL)
		close_unwound(hit->ctx, calls, hit->epoch, hit->sp, true);
	act_and_follow(hit, hook, calls, follow_it);
	if (calls && hook->flags & TC_CALL)
		calls->jumped_to = 0;
	return true;
}

static __always_inline void run_next_hook_of_call(struct hit *hit, const struct tc_hook *hook,
						  follow_call follow_it)
{
	if (!hit->taken || hook->flags & TC_FIRST_OF_GROUP)
		hit->taken = run_hook_of_call(hit, hook, follow_it);
}

static __always_inline void begin_call(struct hit *hit, const struct tc_generation *generation)
{
	hit->sp = read_register(hit->ctx, 4) + generation->pushed;
	hit->entry = read_register(hit->ctx, TC_RIP) - generation->moved;
	hit->followed = 0;
	hit->next = generation->first.next;
}

static long follow_next_by_exits(__u32 i, void *data)
{
	struct hit *hit = data;
	const struct tc_hook *hook = take_next_hook(hit);

	if (!hook)
		return 1;
	run_next_hook_of_call(hit, hook, follow_by_exits);
	return 0;
}

static long follow_next_by_trampoline(__u32 i, void *data)
{
	struct hit *hit = data;
	const struct tc_hook *hook = take_next_hook(hit);

	if (!hook)
		return 1;
	run_next_hook_of_call(hit, hook, follow_by_trampoline);
	return 0;
}

/* ---- where a call ends ---- */

/* Whether no call whose return address is at sp can be around this one. */
static __always_inline bool is_further_out(const struct calls *calls, const struct call *call, __u64 sp)
{
	return call->sp > sp && on_own_stack(calls, sp) && on_own_stack(calls, call->sp);
}

/* The call with its return address at sp that this hook follows; NO_CALL if there is none. */
__on_its_own __u64 find_call(const struct calls *calls, __u64 sp, __u32 slot, __u32 serial)
{
	struct bpf_iter_num steps;
	bool found = false;
	__u64 i;

	if (!calls || !calls->depth)
		return NO_CALL;
	i = calls->depth - 1;
	bpf_iter_num_new(&steps, 0, TC_NEAR_CALLS);
	while (bpf_iter_num_next(&steps)) {
		const struct call *call = call_at(calls, i);

		checked_as_used(i);
		if (!call || is_further_out(calls, call, sp))
			break;
		found = call->sp == sp && call->slot == slot && call->serial == serial;
		if (found || !i)
			break;
		i--;
	}
	bpf_iter_num_destroy(&steps);
	return found ? i : NO_CALL;
}

/* Ends the call of the hook that returns to the address at sp, if it is one that was followed. */
static __noinline void end_call(struct hit *hit, const struct tc_hook *hook, struct calls *calls)
{
	struct ended ended = { .kind = TC_RECORD_RETURN };
	__u64 call;

	call = find_call(calls, hit->sp, hit->slot, hook->flags >> TC_SERIAL_SHIFT);
	if (call == NO_CALL)
		return;
	make_innermost(calls, call);
	ended.has_retval = hit->has_retval;
	ended.retval = hit->has_retval ? read_register(hit->ctx, 0) : 0;
	end_innermost(calls, &ended);
	/* What is jumped to from a call that is waited for comes after the decision. */
	calls->jumped_to = ended.call && !calls->graph_depth && !calls->held_call ? hit->jumps_to : 0;
	calls->jumped_sp = hit->sp;
	/* By a trampoline the program has gone there already. */
	if (!ended.return_address)
		ended.return_address = read_register(hit->ctx, TC_RIP);
	act_on_end(hit->ctx, hook, calls, hit->epoch, &ended);
}

static __always_inline void leave_by(struct hit *hit, const struct tc_hook *hook)
{
	struct calls *calls;

	if (!(hook->flags & TC_CALL))
		return;
	calls = calls_of_thread(hook->session);
	if (!calls)
		return;
	close_unwound(hit->ctx, calls, hit->epoch, hit->sp, false);
	end_call(hit, hook, calls);
}

static long leave_by_next(__u32 i, void *data)
{
	struct hit *hit = data;
	const struct tc_hook *hook = take_next_hook(hit);

	if (!hook)
		return 1;
	leave_by(hit, hook);
	return 0;
}

/* All hooks of the slot: whoever follows the call knows it. */
static __always_inline int leave(struct pt_regs *ctx, __u64 sp, bool has_retval, __u64 jumps_to)
{
	const struct tc_generation *generation;
	struct hit hit = { .ctx = ctx, .sp = sp, .has_retval = has_retval, .jumps_to = jumps_to };

	hit.epoch = *(volatile __u64 *)&epoch;
	test_delay();
	hit.slot = bpf_get_attach_cookie(ctx) % TC_MAX_SLOTS;
	generation = &slots[hit.slot].generation[hit.epoch & 1];
	if (!generation->hook_count)
		return 0;
	leave_by(&hit, &generation->first);
	hit.next = generation->first.next;
	if (hit.next)
		bpf_loop(TC_MAX_HOOKS_OF_SLOT, leave_by_next, &hit, 0);
	return 0;
}

/* ---- the programs ---- */

static __always_inline void run_call(struct pt_regs *ctx)
{
	const struct tc_generation *generation;
	struct hit hit;

	hit.epoch = load_epoch();
	generation = generation_of(ctx, &hit);
	if (!generation)
		return;
	begin_call(&hit, generation);
	hit.taken = run_hook_of_call(&hit, &generation->first, follow_by_exits);
	if (hit.next)
		bpf_loop(TC_MAX_HOOKS_OF_SLOT, follow_next_by_exits, &hit, 0);
}

SEC("?uprobe")
int on_call(struct pt_regs *ctx)
{
	keep_cpu();
	run_call(ctx);
	yield_cpu();
	return 0;
}

SEC("?uprobe")
int on_leave(struct pt_regs *ctx)
{
	__u64 what = bpf_get_attach_cookie(ctx) >> TC_COOKIE_EXIT_SHIFT;

	if (what & TC_EXIT_CONDITIONAL &&
	    !condition_holds(ctx->eflags, what >> TC_EXIT_CONDITION_SHIFT & 15))
		return 0;
	keep_cpu();
	leave(ctx, ctx->rsp, what & TC_EXIT_HAS_RETVAL,
	      jump_target(ctx, what >> TC_EXIT_LENGTH_SHIFT & TC_EXIT_LENGTH_MASK));
	yield_cpu();
	return 0;
}

/* Whether the call is followed. */
static __always_inline bool run_call_by_trampoline(struct pt_regs *ctx)
{
	const struct tc_generation *generation;
	struct hit hit;

	hit.epoch = load_epoch();
	generation = generation_of(ctx, &hit);
	if (!generation)
		return false;
	begin_call(&hit, generation);
	hit.taken = run_hook_of_call(&hit, &generation->first, follow_by_trampoline);
	if (hit.next)
		bpf_loop(TC_MAX_HOOKS_OF_SLOT, follow_next_by_trampoline, &hit, 0);
	return hit.followed;
}

/* At the entry 0 asks for the return: nobody's call shall go through a trampoline in vain. */
SEC("?uprobe")
int on_call_and_return(struct pt_regs *ctx)
{
	bool followed = true;

	keep_cpu();
	if (bpf_session_is_return())
		leave(ctx, ctx->rsp - 8, true, 0);
	else
		followed = run_call_by_trampoline(ctx);
	yield_cpu();
	if (followed)
		return 0;
	return 1;
}

#include "bpf/left.bpf.h"

#endif
