/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Records of hits, and of the ends of calls and pairs. All are written by write_with_stack(), into memory that is
 * reserved in a ring, or into a block where they wait for the end of a call.
 */
#ifndef TRACECTL_RECORD_BPF_H
#define TRACECTL_RECORD_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/held.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/operands.bpf.h"
#include "bpf/own_tags.bpf.h"
#include "bpf/quota.bpf.h"
#include "bpf/stack.bpf.h"
#include "bpf/streamed.bpf.h"
#include "bpf/thread.bpf.h"
#include "bpf/values.bpf.h"

enum {
	CALL_WORDS = 1,
	END_WORDS = sizeof(struct tc_end) / 8,
	SPLIT_END_WORDS = END_WORDS + sizeof(struct tc_split) / 8,
};

/* The source of a record's values. */
enum body {
	ARGS,		/* the probe's arguments */
	KEPT_ARGS,	/* the arguments at the beginning of the call that ends */
	SPEC_VALUES,	/* the values of the spec */
};

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

/* Reserves a record and fills all that does not depend on head, body and stack. `words`: after the struct tc_record. */
static __always_inline struct tc_record *begin_record(const struct streamed *of, const __u32 words)
{
	const __u32 bytes = sizeof(struct tc_record) + words * 8;
	struct tc_record *record;

	if (!of->held && of->flags & TC_OWNED && !owner_may_stream(of->session, 1))
		return 0;
	record = of->held ? begin_held(of->held, bytes) : bpf_ringbuf_reserve(of->ring, bytes, 0);
	if (!record)
		return 0;
	/* After reserving: stream/merger.h relies on this order. */
	record->ts_ns = bpf_ktime_get_boot_ns();
	record->epoch = of->epoch;
	record->ring_dropped = of->held ? bpf_get_smp_processor_id() :
					  *(volatile __u64 *)&of->loss->dropped;
	record->source = of->source;
	describe_thread(record);
	record->tag = tag_of_thread(of->session);
	record->stack_words = 0;
	return record;
}

static __always_inline void fill_end(struct tc_record *record, const struct ended *ended)
{
	struct tc_end *end = (struct tc_end *)record->args;

	record->kind = ended->kind;
	record->flags = (ended->has_retval ? TC_RECORD_HAS_RETVAL : 0) |
			(ended->call ? TC_RECORD_CALL : 0);
	end->retval = ended->retval;
	end->second_retval = ended->second_retval;
	end->duration_ns = ended->duration_ns;
	end->call = ended->call;
}

static __always_inline void fill_split(struct tc_record *record, const struct ended *ended)
{
	struct tc_split *split = (struct tc_split *)&record->args[END_WORDS];
	__u64 unknown = -(__u64)!ended->is_split;

	record->flags |= TC_RECORD_SPLIT;
	split->blocked_ns = ended->blocked_ns | unknown;
	split->runnable_ns = ended->runnable_ns | unknown;
}

static __always_inline void fill_head(const struct streamed *of, struct tc_record *record,
				      const __u32 head)
{
	if (head >= END_WORDS) {
		fill_end(record, of->ended);
		if (head == SPLIT_END_WORDS)
			fill_split(record, of->ended);
		return;
	}
	record->kind = TC_RECORD_HIT;
	record->flags = head == CALL_WORDS ? TC_RECORD_CALL : 0;
	if (head == CALL_WORDS)
		record->args[0] = of->call;
}

/* `before`: words before the arguments. Without room the layout may be null. */
static __always_inline void fill_args(const struct streamed *of, struct tc_record *record,
				      const __u32 before, const __u32 room)
{
	const struct tc_layout *layout = of->layout;
	__u32 i;

	record->arg_valid = 0;
#pragma clang loop unroll(full)
	for (i = 0; i < room; i++) {
		__u64 value = 0, well = 0;

		if (i < layout->arg_count)
			well = read_arg(of->ctx, &layout->args[i], &value);
		record->arg_valid |= well << i;
		record->args[before + i] = only_if(well, value);
	}
	record->arg_count = room ? layout->arg_count : 0;
	record->arg_room = room;
}

static __always_inline void fill_kept_args(const struct streamed *of, struct tc_record *record,
					   const __u32 before, const __u32 room)
{
	__u32 i;

	for (i = 0; i < room; i++)
		record->args[before + i] = of->ended->args.value[i];
	record->arg_valid = room ? of->ended->args.valid : 0;
	record->arg_count = room && of->layout->arg_count < room ? of->layout->arg_count : room;
	record->arg_room = room;
}

static __always_inline void fill_body(const struct streamed *of, struct tc_record *record,
				      const __u32 head, const enum body body, const __u32 room)
{
	if (body == SPEC_VALUES)
		fill_values(of, record, head, room);
	else if (body == KEPT_ARGS)
		fill_kept_args(of, record, head, room);
	else
		fill_args(of, record, head, room);
}

/* A record that waits is cut to the room that it needs. */
static __always_inline void end_record(const struct streamed *of, struct tc_record *record,
				       const enum body body, const __u32 room)
{
	if (!of->held) {
		bpf_ringbuf_submit(record, wakeup_flag());
		return;
	}
	if (room)
		record->arg_room = body == SPEC_VALUES ? of->spec->value_words :
							 of->layout->arg_count;
	end_held(of->held, record);
}

/*
 * Writes a record with these numbers of words:
 *
 *   head    before its values: 0, CALL_WORDS, END_WORDS or SPLIT_END_WORDS
 *   room    for its values
 *   stack   after them: 0, or one of the sizes of bpf/stack.bpf.h
 *
 * They must be constants, because the verifier must know the size that is reserved in a ring; only the head of a
 * hit that waits may vary. False if there is no room for the record, or its owner may stream no more.
 */
static __always_inline bool write_with_stack(const struct streamed *of, const __u32 head,
					     const enum body body, const __u32 room,
					     const __u32 stack)
{
	/* For a hit that waits only the most is constant. */
	const __u32 most_head = of->held && head < END_WORDS ? CALL_WORDS : head;
	struct tc_record *record = begin_record(of, most_head + room + stack);

	if (!record)
		return false;
	fill_head(of, record, head);
	fill_body(of, record, head, body, room);
	if (stack)
		fill_stack(of, record, head + room, stack);
	end_record(of, record, body, room);
	return true;
}

static __always_inline bool write_record(const struct streamed *of, const __u32 head,
					 const enum body body, const __u32 room)
{
	return write_with_stack(of, head, body, room, 0);
}

#endif
