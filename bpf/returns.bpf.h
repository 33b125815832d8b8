/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Sites whose hooks also act when the call returns. Separate programs serve them, loaded when they are
 * first needed, in one of two ways:
 *
 *   on_call_and_return      by the kernel's return trampoline, in a uprobe session
 *   on_call, on_leave       by probes on the instructions by which the function ends
 *
 * Both ways keep open calls alike (bpf/calls.bpf.h). The end of a call is handled by the hook under which
 * it began, if that is still in force.
 */
#ifndef TRACECTL_RETURNS_BPF_H
#define TRACECTL_RETURNS_BPF_H

#include "bpf/abi.h"
#include "bpf/act.bpf.h"
#include "bpf/call_place.bpf.h"
#include "bpf/calls.bpf.h"
#include "bpf/chunks.bpf.h"
#include "bpf/cpu.bpf.h"
#include "bpf/delay.bpf.h"
#include "bpf/ends.bpf.h"
#include "bpf/gate.bpf.h"
#include "bpf/graph.bpf.h"
#include "bpf/held.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/hook.bpf.h"
#include "bpf/leaves.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/match.bpf.h"
#include "bpf/off_cpu.bpf.h"
#include "bpf/operands.bpf.h"
#include "bpf/own_frames.bpf.h"
#include "bpf/probe_time.bpf.h"
#include "bpf/stream.bpf.h"
#include "bpf/terms.bpf.h"
#include "bpf/unwound.bpf.h"
#include "bpf/watched.bpf.h"

/*
 * Whether a session program runs at the return of the call: the thread is then where it returns to, and at the
 * entry at the probed instruction. (bpf_session_is_return() took no argument until Linux 7.0, and the context since.)
 */
static __always_inline bool is_return_of_session(const bpf_user_pt_regs_t *ctx)
{
	return bpf_get_func_ip((void *)ctx) != read_register(ctx, TC_INSTRUCTION_POINTER);
}

/* ---- where a call begins ---- */

/* Never 0. */
static __always_inline __u32 next_number(struct calls *calls)
{
	calls->last_number++;
	calls->last_number += !calls->last_number;
	return calls->last_number;
}

/*
 * Adds the call of a hook as the innermost. `known`: the thread's calls, if it has any yet; `begin`: by
 * begin_of(). Returns the call as in tc_end.call, or 0 if it is cut.
 */
__on_its_own __u64 follow(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook, struct calls *known,
			  __u64 begin)
{
	__u32 spec_index = hook ? hook->spec : 0;
	const struct tc_spec *spec = bpf_map_lookup_elem(&specs, &spec_index);
	struct calls *calls = known;
	enum tc_way way = way_of(begin);
	struct call *call;
	__u64 mark;

	if (!spec || !hook)
		return 0;
	if (!calls)
		calls = begin_calls(ctx, hook);
	if (!calls || (way == TC_BY_TRAMPOLINE && calls->trampolines >= TC_MAX_TRAMPOLINES))
		return 0;
	call = next_call(calls);
	if (!call)
		return 0;
	call->sp = return_place(ctx, begin) - calls->stack_top;
	call->slot = begin % TC_MAX_SLOTS;
	call->serial = hook->flags >> TC_SERIAL_SHIFT;
	call->way = way;
	call->cost = cost_of(begin);
	call->is_of_graph = !!(hook->flags & TC_IN_GRAPH);
	call->number = next_number(calls);
	call->path = path_of(calls, spec, hook->source);
	call->within_ns = 0;
	call->off_cpu.unseen = TC_NOT_SPLIT;
	watch_call(calls, call, hook, spec->blocked);
	if (spec->at_return & TC_SYSCALLS)
		watch_syscalls(hook);
	call->return_address = way == TC_BY_EXITS ? return_address_at_entry(ctx, return_place(ctx, begin)) : 0;
	call->args.valid = 0;
	if (spec->at_return & TC_KEEP_ARGS)
		keep_args(ctx, hook->layout, &call->args);
	mark = mark_of(calls, call);
	calls->depth++;
	calls->trampolines += way == TC_BY_TRAMPOLINE;
	calls->graph_depth += call->is_of_graph;
	call->probes_ns = calls->probes_ns;
	call->began_ns = bpf_ktime_get_boot_ns();
	if (spec->at_return & TC_SPLIT)
		begin_split(&call->off_cpu, call->began_ns);
	return mark;
}

/* Whether the graph's records wait for the end of this call, its outermost one. */
static __always_inline bool begins_to_wait(const struct tc_hook *hook, const struct tc_spec *spec,
					   const struct calls *calls, __u32 call)
{
	if (spec->at_return & TC_KEEP_IF)
		return wait_for(hook->session, call);
	if (calls && calls->held_call)
		wait_for(hook->session, 0);	/* for an earlier call whose end was not handled */
	return false;
}

/* Acts on a call of a graph's root, or of a function below it. Returns whether it is followed. */
__on_its_own bool act_on_graph_call(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
				    struct calls *calls, __u64 under, __u64 begin)
{
	__u32 index = hook ? hook->spec : 0, depth = graph_depth_of(calls);
	const struct tc_spec *spec = bpf_map_lookup_elem(&specs, &index);
	__u64 call;
	bool waits;

	if (!hook || !spec)
		return false;
	if ((spec->graph_depth && depth >= spec->graph_depth) ||
	    (!depth && !is_taken(ctx, hook, spec, ASK_THE_MACHINE))) {
		add_to_counter(hook, filtered, 1);
		return false;
	}
	call = follow(ctx, hook, calls, begin);
	if (!call)
		count_cut(hook->stat);
	waits = depth ? calls && calls->held_call : begins_to_wait(hook, spec, calls, call);
	if (!(spec->at_return & TC_RETURN_EVENT) || (!call && spec->at_return & TC_KEEP_IF))
		return call;
	if (waits)
		hold_hit(ctx, hook, under, call ?: (__u64)depth << 32);
	else
		stream_hit(ctx, hook, under, call ?: (__u64)depth << 32);
	return call;
}

/* Follows a call whose hook acts at its end. Returns whether it is followed. */
static __always_inline bool follow_or_cut(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
					  struct calls *calls, __u64 begin)
{
	if (follow(ctx, hook, calls, begin))
		return true;
	count_cut(hook->stat);
	return false;
}

static __always_inline bool is_call_jumped_to(bpf_user_pt_regs_t *ctx, const struct calls *calls,
					      __u64 under, __u64 begin)
{
	const struct tc_slot *slot = slot_of(begin);

	return slot && is_jumped_to(calls, read_register(ctx, TC_INSTRUCTION_POINTER) - slot->generation[under & 1].moved,
				    return_place(ctx, begin));
}

/* `calls`, `begin`: like `known` and `begin` of follow(). Returns whether the call is followed. */
static __always_inline bool act_on_call(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
					struct calls *calls, __u64 under, __u64 begin)
{
	if (!begins_to_act(hook))
		return false;
	if (is_outside_graph(hook, calls) && !is_call_jumped_to(ctx, calls, under, begin))
		add_to_counter(hook, filtered, 1);
	else if (hook->flags & TC_PAIR)
		act_on_pair(ctx, hook, under);
	else if (hook->flags & TC_IN_GRAPH)
		return act_on_graph_call(ctx, hook, calls, under, begin);
	else if (!hook->spec && hook->flags & TC_EVENT)
		show_hit(ctx, hook, under);
	else if (hook->spec && act_by_spec(ctx, hook, under, ASK_THE_MACHINE) &&
		 hook->flags & TC_CALL)
		return follow_or_cut(ctx, hook, calls, begin);
	return false;
}

/* Ends a hit where a call begins: the time of the hit is neither that of the calls around it nor its own. */
__on_its_own int leave_out_entry(struct calls *calls, __u64 begin, __u64 followed)
{
	struct call *call;
	__u64 now_ns;

	if (!calls || !calls->depth)
		return 0;
	now_ns = bpf_ktime_get_boot_ns();
	calls->probes_ns += time_of_hit(calls->hit_ns, now_ns) + cost_of_entry(cost_of(begin));
	if (!followed)
		return 0;
	call = call_at(calls, calls->depth - 1);
	if (!call)
		return 0;
	call->probes_ns = calls->probes_ns;
	call->began_ns = now_ns;
	if (call->off_cpu.unseen != TC_NOT_SPLIT)
		begin_split(&call->off_cpu, now_ns);
	return 0;
}

/* What a hook does with a call, as bits. */
enum { TAKES_IT = 1, FOLLOWS_IT = 2 };

__on_its_own __u32 run_hook_of_call(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook, __u64 under,
				    __u64 begin)
{
	__u64 hit_ns = bpf_ktime_get_boot_ns();
	struct calls *calls;
	bool followed;

	if (!hook || !takes(hook))
		return 0;
	calls = calls_for(ctx, hook);
	if (calls) {
		calls->hit_ns = hit_ns;
		calls->left_out_ns = 0;
	}
	if (calls && hook->flags & TC_CALL)
		close_unwound(ctx, calls, under, return_place(ctx, begin) - calls->stack_top, true);
	followed = act_on_call(ctx, hook, calls, under, begin);
	if (calls && hook->flags & TC_CALL) {
		calls->jumped_to = 0;
		leave_out_entry(calls, begin, followed);
	}
	return followed ? TAKES_IT | FOLLOWS_IT : TAKES_IT;
}

/* Returns whether the call is followed. */
static __always_inline bool run_call(bpf_user_pt_regs_t *ctx, enum tc_way way)
{
	const struct tc_generation *generation;
	const struct tc_hook *hook;
	struct hit hit;
	__u64 begin;
	__u32 did, next, i;

	hit.epoch = load_epoch();
	generation = generation_of(ctx, &hit, false);
	if (!generation)
		return false;
	begin = begin_of(generation, hit.slot, way);
	next = generation->first.next;
	did = run_hook_of_call(ctx, &generation->first, hit.epoch, begin);
	if (!next)
		return did & FOLLOWS_IT;
	for (i = 0; i < TC_MAX_HOOKS_OF_SLOT; i++) {
		hook = take_next_hook(&next);
		if (!hook)
			break;
		if (did & TAKES_IT && !(hook->flags & TC_FIRST_OF_GROUP))
			continue;
		did = (did & FOLLOWS_IT) | run_hook_of_call(ctx, hook, hit.epoch, begin);
	}
	return did & FOLLOWS_IT;
}

/* ---- the programs ---- */

SEC("?uprobe")
int on_call(bpf_user_pt_regs_t *ctx)
{
	keep_frames_on_stack(ctx, &no_programs);
	run_call(ctx, TC_BY_EXITS);
	return 0;
}

SEC("?uprobe")
int on_leave(bpf_user_pt_regs_t *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx), exit = cookie >> TC_COOKIE_EXIT_SHIFT;

	keep_frames_on_stack(ctx, &no_programs);
	if (exit & TC_EXIT_CONDITIONAL &&
	    !condition_holds(flags_of(ctx), exit >> TC_EXIT_CONDITION_SHIFT & 15))
		return 0;
	leave(ctx, end_of(cookie, TC_BY_EXITS));
	return 0;
}

/* At the entry a result of 0 asks for the return, so only followed calls go through a trampoline. */
SEC("?uprobe")
int on_call_and_return(bpf_user_pt_regs_t *ctx)
{
	keep_frames_on_stack(ctx, &no_sessions);
	if (!is_return_of_session(ctx))
		return run_call(ctx, TC_BY_TRAMPOLINE) ? 0 : 1;
	leave(ctx, end_of(bpf_get_attach_cookie(ctx), TC_BY_TRAMPOLINE));
	return 0;
}

#endif
