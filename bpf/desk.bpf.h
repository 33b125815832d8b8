/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Working memory of a thread's programs, for which the stack's 512 bytes are too few. It belongs to the
 * thread, not the CPU: a program can be preempted, and another one on the CPU would overwrite it. No program
 * interrupts another one of the same thread.
 */
#ifndef TRACECTL_DESK_BPF_H
#define TRACECTL_DESK_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/mapping.bpf.h"
#include "bpf/text.bpf.h"

struct desk {
	/* Of the machine: what it computes with is here, because the verifier would follow each value on the stack. */
	__u64 registers[TC_REGISTERS];
	__u64 operand;			/* the first one of the instruction */
	__u64 result;			/* the value; after a failure the address that could not be read, or 0 */
	__u32 next;			/* instruction */
	__u32 state;			/* enum machine_state */
	struct compared compared;
	struct mapping_walk walk;	/* of its search for the thread's own stack, or for a page that is waited for */
	struct tc_start start;		/* found by the end of a pair */
	struct tc_key key;		/* of an aggregate, or of a pair's hit */
	struct ended matched;		/* the pair that has ended */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct desk);
} desks SEC(".maps");

/* Null if there is no memory. */
static __always_inline struct desk *desk_of_thread(void)
{
	return bpf_task_storage_get(&desks, bpf_get_current_task_btf(), 0,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

#endif
