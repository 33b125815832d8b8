/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * How long threads are off their CPUs: blocked until they are woken, runnable until they get a CPU. Programs in the
 * scheduler add it up for each thread that is followed (bpf/blocked.bpf.h); a call takes the difference between its end
 * and its beginning.
 *
 * The kernel counts how often a thread leaves a CPU. What it counts and these programs have not seen, for instance while
 * they were not attached, shows as a difference of `unseen`: such a call is not split.
 */
#ifndef TRACECTL_OFF_CPU_BPF_H
#define TRACECTL_OFF_CPU_BPF_H

#include "bpf/abi.h"
#include "bpf/callers.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/probe_time.bpf.h"

enum { TC_WATCHING_SESSIONS = 16 };	/* places of a thread for sessions that watch it */

/* What a session has to do with the thread, and with its present block. */
struct watched {
	__u32 session;		/* 1 + its number; 0: none */
	__u32 slot;		/* of the call in which the thread is blocked; 0: of none */
	__u32 serial;		/*   of its hook */
	__u32 syscalls;		/* it records system calls */
	__u64 stack;		/* its number in `key_stacks`, or 0 */
};

struct watched_thread {
	__u64 left_ns;		/* it is off its CPU since then; 0: it is not */
	__u64 woken_ns;		/* 0: not since then */
	__u64 got_ns;		/* when it got a CPU last, */
	__u64 off_ns;		/*   after it was off for so long */
	__u64 seen;		/* how many such times are in the sums: */
	__u64 blocked_ns, runnable_ns;
	__u64 executed_ns;	/* when it executed its program: that ended all calls, and none of them returns */
	__u32 is_blocked;	/* it left because it waits, not because another one took its CPU */
	__u32 under;		/* the value of `watches` when it left its CPU */
	__u64 syscall_ns;	/* when its system call began; 0: none was seen */
	__u64 syscall;		/*   and its number */
	struct watched by[TC_WATCHING_SESSIONS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct watched_thread);
} watched_threads SEC(".maps");

/* Null if no session has watched the thread. Of most threads one load tells that. */
static __always_inline struct watched_thread *watched_thread_of(struct task_struct *task)
{
	return task->bpf_storage ? bpf_task_storage_get(&watched_threads, task, 0, 0) : 0;
}

/*
 * The sums of the current thread. If it leaves its CPU in the meantime, the kernel has counted that and `seen` has not:
 * the count of unseen times differs from all others then.
 */
static __always_inline void read_off_cpu(struct tc_off_cpu *to, const struct task_struct *task,
					 const volatile struct watched_thread *thread)
{
	const volatile unsigned long *by_itself = &task->nvcsw, *by_others = &task->nivcsw;
	__u64 seen = thread->seen;

	to->blocked_ns = thread->blocked_ns;
	to->runnable_ns = thread->runnable_ns;
	to->unseen = *by_itself + *by_others - seen;
}

/* For a call that begins, began_ns being the time of that. From now on the thread is followed. */
__on_its_own int begin_split(struct tc_off_cpu *to, __u64 began_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct watched_thread *thread;

	if (!to)
		return 0;
	to->unseen = TC_NOT_SPLIT;
	thread = bpf_task_storage_get(&watched_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread)
		return 0;
	read_off_cpu(to, task, thread);
	if (thread->got_ns > began_ns)
		to->unseen = TC_NOT_SPLIT;
	return 0;
}

/* For what has ended at that time and taken `ended->duration_ns` since `began`. `ended->is_split` is false before. */
__on_its_own int split_duration(struct ended *ended, const struct tc_off_cpu *began, __u64 ended_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct watched_thread *thread;
	struct tc_off_cpu now = {};
	__u64 left_ns;

	if (!ended || !began)
		return 0;
	thread = watched_thread_of(task);
	if (!thread)
		return 0;
	read_off_cpu(&now, task, thread);
	if (now.unseen != began->unseen || thread->got_ns > ended_ns)
		return 0;
	/* The duration lacks estimates of what the probes took, so it may be less than its parts. */
	left_ns = ended->duration_ns;
	ended->blocked_ns = now.blocked_ns - began->blocked_ns;
	if (ended->blocked_ns > left_ns)
		ended->blocked_ns = left_ns;
	left_ns -= ended->blocked_ns;
	ended->runnable_ns = now.runnable_ns - began->runnable_ns;
	if (ended->runnable_ns > left_ns)
		ended->runnable_ns = left_ns;
	ended->is_split = true;
	return 0;
}

/* How long a hit has taken until now, without the time for which it had to wait for a CPU, if its thread is followed. */
static __always_inline __u64 time_of_hit(__u64 hit_ns, __u64 now_ns)
{
	const struct watched_thread *thread = watched_thread_of(bpf_get_current_task_btf());
	__u64 taken_ns = passed(hit_ns, now_ns);

	if (!thread || thread->got_ns <= hit_ns)
		return taken_ns;
	return passed(thread->off_ns, taken_ns);
}

#endif
