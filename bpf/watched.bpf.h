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
#include "bpf/off_cpu.bpf.h"

/* User space adds 1 each time it attaches the programs: what threads did before is not known. */
__u32 watches;

static __always_inline bool is_in_calls(__u32 session)
{
	const struct calls *calls = calls_of_thread(session);

	return calls && calls->depth;
}

/*
 * Adds the session to those that watch the current thread. Null if there is no room: each place serves some of all
 * sessions, because the verifier would check each round of a search.
 */
static __always_inline struct watched *watch_thread(__u32 session)
{
	struct watched_thread *thread;
	struct watched *one;

	thread = bpf_task_storage_get(&watched_threads, bpf_get_current_task_btf(), 0,
				      BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread)
		return 0;
	one = &thread->by[session % TC_WATCHING_SESSIONS];
	if (one->session == session + 1)
		return one;
	if (one->session && is_in_calls(one->session - 1))
		return 0;
	one->slot = 0;
	one->syscalls = 0;
	one->session = session + 1;
	return one;
}

/* For a call of a graph that shows system calls. */
__on_its_own int watch_syscalls(const struct tc_hook *hook)
{
	struct watched *watched;

	if (!hook)
		return 0;
	watched = watch_thread(hook->session);
	if (watched)
		watched->syscalls = 1;
	else
		add_to_counter(hook, dropped_keys, 1);
	return 0;
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
