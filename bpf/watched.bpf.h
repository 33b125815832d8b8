/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The threads for which sessions measure how long they are blocked: bpf/blocked.bpf.h. */
#ifndef TRACECTL_WATCHED_BPF_H
#define TRACECTL_WATCHED_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/chunks.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/key_stack.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"

/* What a session has to do with the thread, and with its present block. */
struct watched {
	__u32 session;		/* 1 + its number; 0: none */
	__u32 slot;		/* of the call in which the thread is blocked; 0: of none */
	__u32 serial;		/*   of its hook */
	__u32 pad;
	__u64 stack;		/* its number in `key_stacks`, or 0 */
};

struct watched_thread {
	__u64 since_ns;		/* it is blocked; 0: it is not */
	__u64 woken_ns;		/* 0: not yet */
	__u32 under;		/* the value of `watches` when it left its CPU */
	__u32 pad;
	struct watched by[TC_WATCHING_SESSIONS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct watched_thread);
} watched_threads SEC(".maps");

/* User space adds 1 each time it attaches the programs: what threads did before is not known. */
__u32 watches;

static __always_inline bool is_in_calls(__u32 session)
{
	const struct calls *calls = calls_of_thread(session);

	return calls && calls->depth;
}

/* Adds the session to those that watch the current thread. False if there is no room. */
__on_its_own bool watch_thread(__u32 session)
{
	struct watched_thread *thread;
	__u32 i;

	thread = bpf_task_storage_get(&watched_threads, bpf_get_current_task_btf(), 0,
				      BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread)
		return false;
	for (i = 0; i < TC_WATCHING_SESSIONS; i++)
		if (thread->by[i].session == session + 1)
			return true;
	for (i = 0; i < TC_WATCHING_SESSIONS; i++) {
		struct watched *one = &thread->by[i];

		if (one->session && is_in_calls(one->session - 1))
			continue;
		one->slot = 0;
		one->session = session + 1;
		return true;
	}
	return false;
}

/* `call` will be the innermost. `blocked`: that of its spec. */
static __always_inline void watch_call(struct calls *calls, struct call *call, const struct tc_hook *hook,
				       __u32 blocked)
{
	const struct call *around;

	call->watched_slot = 0;
	call->watched_serial = 0;
	if (blocked) {
		if (!watch_thread(hook->session))
			add_to_counter(hook, dropped_keys, 1);
		calls->has_watched = 1;
		call->watched_slot = call->slot;
		call->watched_serial = call->serial;
		return;
	}
	if (!calls->has_watched || !calls->depth)
		return;
	around = call_at(calls, calls->depth - 1);
	if (!around)
		return;
	call->watched_slot = around->watched_slot;
	call->watched_serial = around->watched_serial;
}

/* Reports the stacks that a program in the scheduler has found. */
__on_its_own int report_blocked_stacks(struct calls *calls)
{
	__u32 i;

	if (!calls)
		return 0;
	for (i = 0; i < TC_UNREPORTED_STACKS; i++) {
		__u64 number = calls->unreported[i];
		const struct tc_key_stack *known;

		if (i >= calls->unreported_count)
			break;
		known = bpf_map_lookup_elem(&key_stacks, &number);
		if (known)
			report_stack(known, calls->caller.session);
	}
	calls->unreported_count = 0;
	return 0;
}

#endif
