/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The thread with which a process ends. */
#ifndef TRACECTL_LAST_THREAD_BPF_H
#define TRACECTL_LAST_THREAD_BPF_H

#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"

/* What is done once, at the end of a process. */
enum once_at_end { END_REPORTED = 1, GOROUTINES_CLOSED = 2 };

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);	/* of `enum once_at_end` */
} done_at_end SEC(".maps");

/*
 * The kernel subtracts a thread from the count before it runs sched_process_exit (kernel/exit.c, do_exit), so two
 * threads that end at the same time can both see that none is left.
 */
static __always_inline bool no_thread_is_left(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, live.counter) == 0;
}

/* Of two threads that make the mark at the same time one fails, and then finds the mark of the other. */
static __always_inline __u32 *marks_at_end(struct task_struct *process)
{
	__u32 *made = bpf_task_storage_get(&done_at_end, process, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	return made ? made : bpf_task_storage_get(&done_at_end, process, 0, 0);
}

/*
 * True in one of the threads that see that none is left. Without memory for the mark, or if this CPU is at work on one:
 * in all of them.
 */
static __always_inline bool is_first_to(enum once_at_end what, struct task_struct *task)
{
	__u32 *done = marks_at_end(task->group_leader);

	return !done || !(__sync_fetch_and_or(done, what) & what);
}

#endif
