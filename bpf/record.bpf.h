/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Records, as they are built in memory that is reserved in a ring, or in which they wait. */
#ifndef TRACECTL_RECORD_BPF_H
#define TRACECTL_RECORD_BPF_H

#include "bpf/abi.h"
#include "bpf/held.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/operands.bpf.h"
#include "bpf/own_tags.bpf.h"
#include "bpf/quota.bpf.h"
#include "bpf/streamed.bpf.h"
#include "bpf/thread.bpf.h"

/* `before`: words that are not for arguments. */
static __always_inline void fill_args(struct tc_record *record, const struct tc_layout *layout,
				      struct pt_regs *ctx, const __u32 room, const __u32 before)
{
	__u16 valid = 0;
	__u32 i;

	for (i = 0; i < room; i++) {
		__u64 value = 0;
		bool well = i < layout->arg_count && read_arg(ctx, &layout->args[i], &value);

		valid |= well << i;
		record->args[before + i] = well ? value : 0;
	}
	record->arg_valid = valid;
	record->arg_count = room ? layout->arg_count : 0;
	record->arg_room = room;
}

static __always_inline void describe_thread(struct tc_record *record)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const __u64 *comm = __builtin_preserve_access_index((const __u64 *)&task->comm);
	struct thread thread;

	learn_ids(&thread, task);
	record->pid = thread.pid;
	record->tid = thread.tid;
	__builtin_memcpy(record->comm, (__u64[]){ comm[0], comm[1] }, sizeof(record->comm));
}

static __always_inline struct tc_record *begin_record(const struct streamed *hit, const __u32 room)
{
	const __u32 bytes = sizeof(struct tc_record) + room * 8;
	struct tc_record *record;

	if (!hit->held && hit->flags & TC_OWNED && !owner_may_stream(hit->session, 1))
		return 0;
	record = hit->held ? begin_held(hit->held, bytes) :
			     bpf_ringbuf_reserve(hit->ring, bytes, 0);
	if (!record)
		return 0;
	/* After reserving: see events/merger.h for what the order of these two is good for. */
	record->ts_ns = bpf_ktime_get_boot_ns();
	record->epoch = hit->epoch;
	record->ring_dropped = hit->held ? bpf_get_smp_processor_id() :
					   *(volatile __u64 *)&hit->loss->dropped;
	record->source = hit->source;
	describe_thread(record);
	record->kind = TC_RECORD_HIT;
	record->flags = 0;
	record->tag = tag_of_thread(hit->session);
	record->stack_words = 0;
	return record;
}

static __always_inline void submit(const struct streamed *hit, struct tc_record *record)
{
	if (hit->held)
		end_held(hit->held, record);
	else
		bpf_ringbuf_submit(record, wakeup_flag());
}

#endif
