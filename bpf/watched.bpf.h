/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The threads for which sessions measure how long they are blocked: bpf/blocked.bpf.h. */
#ifndef TRACECTL_WATCHED_BPF_H
#define TRACECTL_WATCHED_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/chunks.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/key_stack.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"

enum { TC_WATCHING_SESSIONS = 16 };	/* places of a thread for sessions that watch it */

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
	__u64 executed_ns;	/* when it executed its program: that ended all calls, and none of them returns */
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

/* Null if no session has watched the thread. Of most threads one load tells that. */
static __always_inline struct watched_thread *watched_thread_of(struct task_struct *task)
{
	return task->bpf_storage ? bpf_task_storage_get(&watched_threads, task, 0, 0) : 0;
}

static __always_inline bool is_in_calls(__u32 session)
{
	const struct calls *calls = calls_of_thread(session);

	return calls && calls->depth;
}

/*
 * Adds the session to those that watch the current thread. False if there is no room: each place serves some of all
 * sessions, because the verifier would check each round of a search.
 */
static __always_inline bool watch_thread(__u32 session)
{
	struct watched_thread *thread;
	struct watched *one;

	thread = bpf_task_storage_get(&watched_threads, bpf_get_current_task_btf(), 0,
				      BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread)
		return false;
	one = &thread->by[session % TC_WATCHING_SESSIONS];
	if (one->session == session + 1)
		return true;
	if (one->session && is_in_calls(one->session - 1))
		return false;
	one->slot = 0;
	one->session = session + 1;
	return true;
}

/* `call` will be the innermost. `blocked`: that of its spec. */
__on_its_own int watch_call(struct calls *calls, struct call *call, const struct tc_hook *hook, __u32 blocked)
{
	const struct call *around;

	if (!calls || !call || !hook)
		return 0;
	call->watched_slot = 0;
	if (blocked) {
		if (!watch_thread(hook->session))
			add_to_counter(hook, dropped_keys, 1);
		call->watched_slot = call->slot;
		call->watched_serial = call->serial;
		return 0;
	}
	if (!calls->depth)
		return 0;
	around = call_at(calls, calls->depth - 1);
	if (!around)
		return 0;
	call->watched_slot = around->watched_slot;
	call->watched_serial = around->watched_serial;
	return 0;
}

#endif
