/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Memory in which a thread's programs work, where the stack's 512 bytes are too few. It is the thread's,
 * not its CPU's: programs can be preempted, and another's would go on in the same place. No program
 * interrupts another of the same thread.
 */
#ifndef TRACECTL_DESK_BPF_H
#define TRACECTL_DESK_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/text.bpf.h"

struct desk {
	__u64 registers[TC_REGISTERS];	/* of the machine */
	struct string string;		/* that the machine compares */
	struct tc_start start;		/* that an end of a pair has met */
	struct tc_key key;		/* of an aggregate, or of a hit of a side of a pair */
	struct ended matched;		/* the pair */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct desk);
} desks SEC(".maps");

/* Null where there is no memory. */
static __always_inline struct desk *desk_of_thread(void)
{
	return bpf_task_storage_get(&desks, bpf_get_current_task_btf(), 0,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

#endif
