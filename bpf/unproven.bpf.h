/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Processes that are left out of a session, because nobody proved that its user may see them (bpf/proofs.bpf.h). */
#ifndef TRACECTL_UNPROVEN_BPF_H
#define TRACECTL_UNPROVEN_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/notices.bpf.h"

struct reported_unproven {
	__u32 session;
	__u32 pid;
	__u64 exec_id;
};

/* Processes that have been counted as left out, so that each is counted once. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TC_MAX_TOLD_UNPROVEN);
	__type(key, struct reported_unproven);
	__type(value, __u8);
} reported_unproven SEC(".maps");

__on_its_own int count_unproven(__u32 session)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct tc_session *of = bpf_map_lookup_elem(&sessions, &session);
	struct reported_unproven key = { .session = session, .pid = task->tgid, .exec_id = task->self_exec_id };
	struct tc_notice *notice;
	__u8 reported = 1;

	if (!of)
		return 0;
	__sync_fetch_and_add(&of->unproven_hits, 1);
	if (bpf_map_update_elem(&reported_unproven, &key, &reported, BPF_NOEXIST))
		return 0;
	__sync_fetch_and_add(&of->unproven_processes, 1);
	/* A user whose processes come and go must not fill the ring for others. */
	if (*(volatile __u32 *)&of->unproven_reported - *(volatile __u32 *)&of->unproven_seen >= TC_MOST_UNPROVEN_REPORTED)
		return 0;
	notice = room_for_notice();
	if (!notice)
		return 0;
	begin_notice(notice, TC_NOTICE_UNPROVEN, task);
	notice->session = session;
	__sync_fetch_and_add(&of->unproven_reported, 1);
	bpf_ringbuf_submit(notice, BPF_RB_FORCE_WAKEUP);
	return 0;
}

#endif
