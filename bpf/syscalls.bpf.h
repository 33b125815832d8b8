/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * System calls that threads make within the calls of a graph. Each is recorded when it ends, in the rings of the sessions
 * whose graph asks for it, as an end without a call. All threads of the machine pay for the way to these programs.
 */
#ifndef TRACECTL_SYSCALLS_BPF_H
#define TRACECTL_SYSCALLS_BPF_H

#include "bpf/abi.h"
#include "bpf/access.bpf.h"
#include "bpf/blocked.bpf.h"
#include "bpf/callers.bpf.h"
#include "bpf/calls.bpf.h"
#include "bpf/chunks.bpf.h"
#include "bpf/ends.bpf.h"
#include "bpf/held.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/marks.bpf.h"
#include "bpf/off_cpu.bpf.h"
#include "bpf/probe_time.bpf.h"
#include "bpf/record.bpf.h"
#include "bpf/streamed.bpf.h"

#define TC_SYSCALL_UNKNOWN (~0ULL)	/* of the numbers of 32-bit programs */

static __always_inline __u64 number_of_syscall(struct task_struct *task, __u64 number)
{
#ifdef TC_THREAD_COMPAT
	if (bpf_core_field_exists(task->thread_info.status) && task->thread_info.status & TC_THREAD_COMPAT)
		return TC_SYSCALL_UNKNOWN;
#endif
	return number;
}

SEC("?tp_btf/sys_enter")
int on_syscall(__u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct watched_thread *thread = watched_thread_of(task);

	if (!thread)
		return 0;
	thread->syscall = number_of_syscall(task, ctx[1]);
	thread->syscall_ns = bpf_ktime_get_boot_ns();
	return 0;
}

/* The hook of the innermost open call, if its graph shows system calls; false if there is none. */
static __always_inline bool hook_around(struct tc_hook *hook, const struct calls *calls,
					const struct watched_thread *thread, __u64 sp, __u64 under)
{
	const struct call *call = innermost_open(calls, sp);
	const struct tc_spec *spec;
	__u32 index;

	if (!call || call->began_ns < thread->executed_ns || call->began_ns > thread->syscall_ns ||
	    !call->is_of_graph || !find_hook(under, call->slot, call->serial, hook))
		return false;
	index = hook->spec;
	spec = bpf_map_lookup_elem(&specs, &index);
	return spec && spec->at_return & TC_SYSCALLS && !is_shut(hook) && !is_hidden(hook);
}

static __always_inline bool hold_syscall(const struct tc_hook *hook, struct calls *calls, __u64 under)
{
	struct streamed end = { .epoch = under, .ended = &calls->ended, .source = hook->source,
				.session = hook->session };

	end.held = block_with_room(calls, sizeof(struct tc_record) + sizeof(struct tc_end));
	return end.held && write_record(&end, END_WORDS, KEPT_ARGS, 0);
}

__on_its_own int record_syscall(const struct watched_thread *thread, __u32 session, __u64 sp, __s64 result,
				__u64 ended_ns)
{
	struct calls *calls = calls_of_thread(session);
	__u64 under = *(volatile __u64 *)&epoch;
	struct tc_hook hook = {};	/* filled by a function that is checked by itself */
	struct ended *ended;

	if (!thread || !calls || !hook_around(&hook, calls, thread, sp, under))
		return 0;
	if (is_silent(session)) {
		add_to_counter(&hook, silenced, 1);
		return 0;
	}
	ended = &calls->ended;
	ended->kind = TC_RECORD_SYSCALL;
	ended->has_retval = true;
	ended->retval = result;
	ended->second_retval = thread->syscall;
	ended->duration_ns = passed(thread->syscall_ns, ended_ns);
	ended->call = 0;
	if (calls->held_call)
		hold_syscall(&hook, calls, under);
	else if (!stream_plain_end(&hook, under, ended))
		add_to_counter(&hook, dropped_ring, 1);
	return 0;
}

SEC("?tp_btf/sys_exit")
int on_syscall_end(__u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct watched_thread *thread = watched_thread_of(task);
	struct user_place place = {};
	__u64 ended_ns;
	__u32 i;

	if (!thread || !thread->syscall_ns)
		return 0;
	ended_ns = bpf_ktime_get_boot_ns();
	find_user_place(&place, task);
	for (i = 0; i < TC_WATCHING_SESSIONS; i++)
		if (thread->by[i].session && thread->by[i].syscalls)
			record_syscall(thread, thread->by[i].session - 1, place.stack, ctx[1], ended_ns);
	thread->syscall_ns = 0;
	return 0;
}

#endif
