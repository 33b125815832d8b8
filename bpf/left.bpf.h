/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Threads that end within calls, and goroutines whose process ends: these calls are closed as unwound. */
#ifndef TRACECTL_LEFT_BPF_H
#define TRACECTL_LEFT_BPF_H

#include "bpf/abi.h"
#include "bpf/access.bpf.h"
#include "bpf/aggregate.bpf.h"
#include "bpf/calls.bpf.h"
#include "bpf/chunks.bpf.h"
#include "bpf/ends.bpf.h"
#include "bpf/held.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/hook.bpf.h"
#include "bpf/last_thread.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/marks.bpf.h"
#include "bpf/record.bpf.h"
#include "bpf/shares.bpf.h"
#include "bpf/streamed.bpf.h"

/* Only the path of the call's keys is known; the others are evaluated at hits. */
static __always_inline bool add_left(struct tc_key *key, const struct tc_aggregate *aggregate,
				     const struct ended *ended)
{
	if (!is_by_path(aggregate))
		key->missing |= (1 << (aggregate->key_count & 3)) - 1;
	else if (ended->path == TC_NO_PATH)
		return false;
	else
		key->part[0] = ended->path;
	return add_unwound(aggregate, key, ended);
}

__on_its_own int count_left(const struct tc_hook *hook, const struct ended *ended)
{
	__u32 i, index = hook ? hook->spec : 0;
	const struct tc_spec *spec = bpf_map_lookup_elem(&specs, &index);

	if (!hook || !spec || !ended)
		return 0;
	for (i = 0; i < TC_MAX_AGGREGATES; i++) {
		const struct tc_aggregate *aggregate = &spec->aggregates[i];
		struct tc_key key = { .stat = hook->stat, .aggregate = i };

		if (i >= spec->aggregate_count)
			break;
		if (aggregate->at == TC_AT_END && !add_left(&key, aggregate, ended))
			add_to_counter(hook, dropped_keys, 1);
	}
	return 0;
}

/*
 * A condition on the return value cannot be evaluated, and others at the return are not: they do not hold.
 * Records that wait for the call's end are kept, because --keep-if cannot be decided.
 */
static __always_inline void act_on_left(const struct tc_hook *hook, struct calls *calls, __u64 under,
					const struct ended *ended)
{
	__u32 index = hook->spec;
	const struct tc_spec *spec = bpf_map_lookup_elem(&specs, &index);

	if (!spec || is_shut(hook) || is_hidden(hook))
		return;
	if (spec->at_return & TC_CONDITION_AT_RETURN) {
		add_to_counter(hook, filtered, 1);
		return;
	}
	count_left(hook, ended);
	if (!(spec->at_return & (TC_EVENT_AT_RETURN | TC_RETURN_EVENT)))
		return;
	if (is_silent(hook->session))
		add_to_counter(hook, silenced, 1);
	else if (is_held(calls, ended))
		hold_end(hook, calls, under, ended);
	else if (!stream_plain_end(hook, under, ended))
		add_to_counter(hook, dropped_ring, 1);
	if (is_held(calls, ended) && ended->call == calls->held_call) {
		calls->held_call = 0;
		add_to_counter(hook, dropped_ring, give_held(calls, under));
	}
}

struct leaving {
	struct calls *calls;
	__u64 under;
};

static long close_innermost_left(__u32 round, const struct leaving *leaving)
{
	struct calls *calls = leaving->calls;

	if (!calls->depth)
		return LAST_ROUND;
	if (unwind_innermost(calls, leaving->under))
		act_on_left(&calls->ended_for, calls, leaving->under, &calls->ended);
	return NEXT_ROUND;
}

/* `goroutine`: 0 for the current thread. */
__on_its_own int close_left(__u32 session, __u64 goroutine, __u64 under)
{
	struct caller caller = caller_of(session, goroutine);
	struct calls *calls = calls_of(&caller);
	struct leaving leaving = { .calls = calls, .under = under };

	if (!calls)
		return 0;
	calls->left_out_ns = 0;
	calls->hit_ns = bpf_ktime_get_boot_ns();
	leaving.calls = calls;
	bpf_loop(TC_MAX_DEPTH, close_innermost_left, &leaving, 0);
	forget_calls(calls);
	return 0;
}

struct last_thread {
	__u64 under;
	__u32 process;
};

static long close_goroutine(void *map, const struct caller *caller, struct calls *calls,
			    const struct last_thread *last)
{
	if (caller->goroutine && caller->id == last->process)
		close_left(caller->session, caller->goroutine, last->under);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int on_thread_exit(__u64 *ctx)
{
	__u64 under = *(volatile __u64 *)&epoch;
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 number;

	for (number = 0; number < TC_MAX_SESSIONS; number++)
		if (sessions_with_calls[number / 64] >> number % 64 & 1)
			close_left(number, 0, under);
	if (follows_goroutines && no_thread_is_left(task) && is_first_to(GOROUTINES_CLOSED, task)) {
		struct last_thread last = { .under = under,
					    .process = bpf_get_current_pid_tgid() >> 32 };

		bpf_for_each_map_elem(&callers, close_goroutine, &last, 0);
	}
	return 0;
}

#endif
