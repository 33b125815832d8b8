/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * deepest: takes hits at which more of the thread's stack is in use than at any hit of the thread that it
 * has taken for the session. The greatest use is stored with the thread, as marks are, and becomes void
 * when they do. Only the thread itself reads it.
 */
#ifndef TRACECTL_DEEPEST_BPF_H
#define TRACECTL_DEEPEST_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/own_stack.bpf.h"

struct depth {
	__u64 bytes;
	__u32 under;	/* tc_session.marks at that time */
	__u32 pad;
};

struct thread_depths {
	struct depth of[TC_MAX_SESSIONS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_depths);
} depths SEC(".maps");

static __always_inline struct depth *depth_of_thread(__u32 session)
{
	struct thread_depths *all;

	if (session >= TC_MAX_SESSIONS)
		return 0;
	all = bpf_task_storage_get(&depths, bpf_get_current_task_btf(), 0,
				   BPF_LOCAL_STORAGE_GET_F_CREATE);
	return all ? &all->of[session] : 0;
}

/* Without memory for the greatest use so far no hit is taken. */
__on_its_own bool is_deepest(bpf_user_pt_regs_t *ctx, __u32 session)
{
	struct tc_session *state = bpf_map_lookup_elem(&sessions, &session);
	struct depth *depth;
	__u64 bytes = 0;

	if (!state || !stack_bytes(ctx, &bytes))
		return false;
	depth = depth_of_thread(session);
	if (!depth) {
		__sync_fetch_and_add(&state->marks_lost, 1);
		return false;
	}
	return depth->under != state->marks || bytes > depth->bytes;
}

/* Called once the hit's record is in the ring: a lost hit must not exclude others. */
__on_its_own int keep_deepest(bpf_user_pt_regs_t *ctx, __u32 session)
{
	struct tc_session *state = bpf_map_lookup_elem(&sessions, &session);
	struct depth *depth = depth_of_thread(session);
	__u64 bytes = 0;

	if (!state || !depth || !stack_bytes(ctx, &bytes))
		return 0;
	depth->bytes = bytes;
	depth->under = state->marks;
	return 0;
}

#endif
