/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * How long threads are blocked within calls, summed up by the stacks at which they leave their CPU. A thread is blocked
 * from the moment it leaves its CPU because it waits, not because another one takes the CPU from it, until it is woken.
 *
 * A session that measures this has its number with each thread in such a call (watch_thread). When such a thread leaves
 * its CPU the innermost call gives the hook, and the user's registers the stack. When it gets a CPU again the time is
 * added, if the hook is still in force. All others cost two loads a switch and one a wakeup. The
 * programs of both run under the scheduler's locks: they wait for nobody, wake nobody, and touch no ring. So the
 * engine is not told of new stacks: it has read what the process maps when it was armed, and looks again when rows are
 * read.
 */
#ifndef TRACECTL_BLOCKED_BPF_H
#define TRACECTL_BLOCKED_BPF_H

#include "bpf/abi.h"
#include "bpf/access.bpf.h"
#include "bpf/aggregate.bpf.h"
#include "bpf/calls.bpf.h"
#include "bpf/chunks.bpf.h"
#include "bpf/cpu.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/key_stack.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/marks.bpf.h"
#include "bpf/off_cpu.bpf.h"
#include "bpf/probe_time.bpf.h"
#include "bpf/thread.bpf.h"
#include "bpf/walk.bpf.h"
#include "bpf/watched.bpf.h"

/* ---- a block begins ---- */

struct user_place {
	__u64 address, stack, frame_pointer;
};

static __always_inline void find_user_place(struct user_place *place, struct task_struct *task)
{
	const void *registers = (const void *)bpf_task_pt_regs(task);

	bpf_probe_read_kernel(&place->address, sizeof(place->address),
			      registers + offset_of_register(TC_INSTRUCTION_POINTER));
	bpf_probe_read_kernel(&place->stack, sizeof(place->stack),
			      registers + offset_of_register(TC_STACK_POINTER));
	bpf_probe_read_kernel(&place->frame_pointer, sizeof(place->frame_pointer),
			      registers + offset_of_register(TC_FRAME_POINTER));
}

/* Like walk_key_stack(), of the current thread, which is in the kernel. */
__on_its_own __u64 walk_blocked_stack(const struct user_place *place, __u32 most, __u64 hash,
				      struct tc_key_stack *to)
{
	struct key_walk walk = { .to = to, .hash = hash, .most = most };

	if (!place)
		return 0;
	walk.begun = unknown_zero;
	walk.walk.address = place->address;
	walk.walk.frame_pointer = place->frame_pointer;
	walk.walk.least = place->stack;
	walk.walk.end = TC_WALK_LIMIT;
	take_frames(&walk);
	return walk.hash;
}

/* Like number_of_stack(), but nobody is told of a new stack: its names are those of the mappings that are known. */
__on_its_own __u64 number_of_blocked_stack(const struct user_place *place, struct calls *calls, __u32 most)
{
	struct tc_key_stack *known;
	__u32 pid = ids_of_current().pid;
	__u64 number;
	__u16 session;

	if (!place || !calls)
		return 0;
	session = calls->caller.session;
	number = stack_number(walk_blocked_stack(place, most, hash_of_process(pid), 0), session);
	known = entry_of_stack(number, session);
	if (!known)
		return 0;
	if (!is_filled(known)) {
		walk_blocked_stack(place, most, 0, known);
		finish_key_stack(known, pid);
	}
	return number;
}

enum { CALLS_TRIED = 8 };	/* that may have ended without an observed return */

/*
 * Whether the call is over, for a thread with that stack pointer. A call that was left unseen may be as far up on the
 * stack as others since then: the place of its return address has another one, which is no trampoline's.
 */
static __always_inline bool was_left(const struct calls *calls, const struct call *call, __u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 place = address_of(calls, call);

	return is_over(calls, call, sp, false) ||
	       (is_returned_from(place, call->return_address) &&
		is_returned_from(place, BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr)));
}

/*
 * The innermost call that is not over, for a thread with that stack pointer; null if none is known. On another stack than
 * the thread's own, and in a call on such a stack, nobody can tell whose the block is: coroutines leave their calls open.
 */
static __always_inline const struct call *innermost_open(const struct calls *calls, __u64 sp)
{
	const struct call *call;
	__u32 i;

	if (!on_own_stack(calls, sp))
		return 0;
	for (i = 0; i < CALLS_TRIED; i++) {
		if (i >= calls->depth)
			return 0;
		call = call_at(calls, calls->depth - 1 - i);
		if (call && !was_left(calls, call, sp))
			return on_own_stack(calls, call->sp) ? call : 0;
	}
	return 0;
}

/* The hook in whose call the thread is blocked, if it measures that now. `under`: the epoch. */
static __always_inline const struct tc_aggregate *aggregate_of_hook(__u64 under, const struct watched *watched,
								     struct tc_hook *hook, __u32 *number)
{
	const struct tc_spec *spec;
	__u32 index;

	if (!find_hook(under, watched->slot, watched->serial, hook) || is_shut(hook))
		return 0;
	index = hook->spec;
	spec = bpf_map_lookup_elem(&specs, &index);
	if (!spec || !spec->blocked)
		return 0;
	*number = spec->blocked - 1;
	return &spec->aggregates[*number & (TC_MAX_AGGREGATES - 1)];
}

/* The block of one session begins, unless the thread is in no call that it measures. */
__on_its_own int begin_blocking(struct watched *watched, const struct user_place *place, __u64 under,
				__u64 executed_ns)
{
	const struct tc_aggregate *aggregate;
	const struct call *call;
	struct tc_hook hook = {};	/* filled by a function that is checked by itself */
	struct calls *calls;
	__u32 number;

	if (!watched || !place)
		return 0;
	watched->slot = 0;
	calls = calls_of_thread(watched->session - 1);
	call = calls ? innermost_open(calls, place->stack) : 0;
	if (!call || call->began_ns < executed_ns || !call->watched_slot)
		return 0;
	watched->slot = call->watched_slot;
	watched->serial = call->watched_serial;
	aggregate = aggregate_of_hook(under, watched, &hook, &number);
	if (!aggregate || is_hidden(&hook)) {
		watched->slot = 0;
		return 0;
	}
	watched->stack = 0;
	if (!aggregate->key_count)
		return 0;
	watched->stack = number_of_blocked_stack(place, calls, aggregate->keys[0].a);
	if (!watched->stack) {
		watched->slot = 0;
		add_to_counter(&hook, dropped_keys, 1);
	}
	return 0;
}

/* ---- a block is over ---- */

__on_its_own int end_blocking(struct watched *watched, __u64 blocked_ns, __u64 under)
{
	struct tc_key key = {};
	struct tc_hook hook = {};	/* filled by a function that is checked by itself */
	__u32 number;

	if (!watched || !aggregate_of_hook(under, watched, &hook, &number))
		return 0;
	key.stat = hook.stat;
	key.aggregate = number;
	key.part[0] = watched->stack;
	if (!add_to_sum(&key, blocked_ns, true))
		add_to_counter(&hook, dropped_keys, 1);
	return 0;
}

/*
 * Nobody may have woken a thread that left because it waits: a signal was waiting, and it only waited for a CPU. Kernels
 * before 6.18 tell so.
 */
static __always_inline bool was_blocked(const struct watched_thread *thread)
{
	return thread->is_blocked && thread->woken_ns;
}

static __always_inline __u64 blocked_ns_of(const struct watched_thread *thread)
{
	return was_blocked(thread) ? passed(thread->left_ns, thread->woken_ns) : 0;
}

/* Adds the block that is over to the sums of the sessions that measure it. */
static __always_inline void end_block(struct watched_thread *thread)
{
	__u64 under = *(volatile __u64 *)&epoch, blocked_ns = blocked_ns_of(thread);
	__u32 i;

	if (!was_blocked(thread) || thread->under != *(volatile __u32 *)&watches)
		return;
	for (i = 0; i < TC_WATCHING_SESSIONS; i++)
		if (thread->by[i].session && thread->by[i].slot)
			end_blocking(&thread->by[i], blocked_ns, under);
}

/* ---- a thread leaves its CPU ---- */

static __always_inline void leaves_cpu(struct task_struct *task, bool is_blocked)
{
	struct watched_thread *thread = watched_thread_of(task);
	__u64 under = *(volatile __u64 *)&epoch, left_ns;
	struct user_place place = {};
	__u32 i;

	if (!thread)
		return;
	if (thread->left_ns)	/* it got a CPU unseen: some kernels do not show each switch */
		end_block(thread);
	thread->left_ns = 0;
	if (!task->mm)
		return;
	left_ns = bpf_ktime_get_boot_ns();
	if (is_blocked) {
		find_user_place(&place, task);
		for (i = 0; i < TC_WATCHING_SESSIONS; i++)
			if (thread->by[i].session)
				begin_blocking(&thread->by[i], &place, under, thread->executed_ns);
	}
	thread->woken_ns = 0;
	thread->is_blocked = is_blocked;
	thread->under = *(volatile __u32 *)&watches;
	thread->left_ns = left_ns;
}

/* ---- a thread gets a CPU ---- */

static __always_inline void gets_cpu(struct task_struct *task)
{
	struct watched_thread *thread = watched_thread_of(task);
	__u64 blocked_ns;

	if (!thread || !thread->left_ns)
		return;
	thread->got_ns = bpf_ktime_get_boot_ns();
	thread->off_ns = passed(thread->left_ns, thread->got_ns);
	blocked_ns = blocked_ns_of(thread);
	thread->blocked_ns += blocked_ns;
	thread->runnable_ns += passed(blocked_ns, thread->off_ns);
	thread->seen++;
	end_block(thread);
	thread->left_ns = 0;
}

/* ---- the programs ---- */

/* The arguments are: whether the CPU was taken from the thread, it, the next one, and its state; 0: it can run. */
SEC("?tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	struct task_struct *before = (void *)ctx[1];
	struct task_struct *after = (void *)ctx[2];

	leaves_cpu(before, !ctx[0] && ctx[3]);
	gets_cpu(after);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int on_watched_exec(__u64 *ctx)
{
	struct watched_thread *thread = watched_thread_of((void *)ctx[0]);

	if (thread)
		thread->executed_ns = bpf_ktime_get_boot_ns();
	return 0;
}

SEC("?tp_btf/sched_wakeup")
int on_wakeup(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct watched_thread *thread = watched_thread_of(task);

	if (thread && thread->left_ns && thread->is_blocked && !thread->woken_ns)
		thread->woken_ns = bpf_ktime_get_boot_ns();
	return 0;
}

#endif
