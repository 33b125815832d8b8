/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Messages to the engine besides events: a hit asks for a dump, a process has ended, and others. */
#ifndef TRACECTL_NOTICES_BPF_H
#define TRACECTL_NOTICES_BPF_H

#include "bpf/abi.h"
#include "bpf/credentials.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/thread.bpf.h"

struct tc_ends watched_ends;	/* user space wants notices of them */

/*
 * Room for a notice, or null. It is compared with null once, before another function is called: after that, Linux
 * 6.1 no longer knows that it was compared.
 */
static __always_inline struct tc_notice *room_for_notice(void)
{
	return bpf_ringbuf_reserve(&notices, sizeof(struct tc_notice), 0);
}

static __always_inline void begin_notice(struct tc_notice *notice, __u32 kind, struct task_struct *task)
{
	struct thread thread;

	__builtin_memset(notice, 0, sizeof(*notice));
	learn_ids(&thread, task);
	notice->ts_ns = bpf_ktime_get_boot_ns();
	notice->kind = kind;
	notice->pid = thread.pid;
	BPF_CORE_READ_INTO(&notice->comm, task, group_leader, comm);
}

/*
 * Asks once, until user space has taken the dump and listens again, so that a probe that is hit a million
 * times a second does not fill the ring.
 */
__on_its_own int ask_for_dump(__u32 session, __u32 asking)
{
	struct tc_session *state = bpf_map_lookup_elem(&sessions, &session);
	struct tc_notice *notice;

	if (!state || !*(volatile __u32 *)&state->listens_for_dumps ||
	    !__sync_lock_test_and_set(&state->listens_for_dumps, 0))
		return 0;
	notice = room_for_notice();
	if (!notice) {
		*(volatile __u32 *)&state->listens_for_dumps = 1;	/* the next hit asks */
		return 0;
	}
	begin_notice(notice, TC_NOTICE_DUMP, bpf_get_current_task_btf());
	notice->session = session;
	notice->asking_session = asking;
	bpf_ringbuf_submit(notice, BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* Its bits 0x7f are the signal, 0x80 is set if there is a core; the next eight are the status: include/linux/sched/signal.h. */
static __always_inline __u32 exit_code_of(struct task_struct *task)
{
	int of_group = BPF_CORE_READ(task, signal, group_exit_code);

	return of_group ? of_group : task->exit_code;
}

static __always_inline bool is_watched_end(struct task_struct *task)
{
	volatile struct tc_ends *watched = &watched_ends;
	__u32 exit_code = exit_code_of(task);
	__u32 signal = exit_code & 0x7f, status = exit_code >> 8 & 0xff;

	if (signal)
		return watched->signals >> ((signal - 1) & 63) & 1;
	return watched->statuses[status / 64] >> (status & 63) & 1;
}

static __always_inline __u32 own_pid_of(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	int number = 0;

	bpf_probe_read_kernel(&number, sizeof(number),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				      level * bpf_core_type_size(struct upid));
	return number;
}

__u32 exec_listing;	/* user space begins a new one to have everything reported again */

/* Reports a file once in each listing, so that a shell's loop does not fill the ring. */
static __always_inline void report_exec(struct task_struct *task, const struct tc_executable *file)
{
	struct tc_told_exec key = { .file = *file, .cgroup = bpf_get_current_cgroup_id() };
	struct tc_sets *sets = bpf_map_lookup_elem(&cgroups, &key.cgroup);
	__u32 listing = *(volatile __u32 *)&exec_listing;
	__u32 *reported = bpf_map_lookup_elem(&reported_execs, &key);
	struct tc_notice *notice;

	if (!sets || (reported && *reported == listing))
		return;
	notice = room_for_notice();
	if (!notice)
		return;
	begin_notice(notice, TC_NOTICE_EXEC, task);
	notice->initial_pid = task->tgid;
	notice->of = *sets;
	notice->file = *file;
	bpf_map_update_elem(&reported_execs, &key, &listing, BPF_ANY);
	bpf_ringbuf_submit(notice, BPF_RB_FORCE_WAKEUP);
}

struct tc_sets listening;	/* the engine wants one notice of a process that joins them */

static __always_inline bool take_listening(const struct tc_sets *joined, struct tc_sets *reported)
{
	__u64 any = 0;
	__u32 i;

	for (i = 0; i < TC_MEMBER_WORDS; i++) {
		__u64 wanted = joined->words[i] & ((volatile struct tc_sets *)&listening)->words[i];

		reported->words[i] = wanted ? __sync_fetch_and_and(&listening.words[i], ~wanted) & wanted : 0;
		any |= reported->words[i];
	}
	return any;
}

/*
 * Reports once for each set, until user space has looked and sets `hearing` again, so that a server that forks for
 * every request does not fill the ring.
 */
static __always_inline void report_joining(struct task_struct *task, const struct tc_sets *joined)
{
	struct tc_notice *notice;
	struct tc_sets reported;
	__u32 i;

	if (!take_listening(joined, &reported))
		return;
	notice = room_for_notice();
	if (!notice) {
		for (i = 0; i < TC_MEMBER_WORDS; i++)	/* the next one is reported */
			__sync_fetch_and_or(&listening.words[i], reported.words[i]);
		return;
	}
	begin_notice(notice, TC_NOTICE_JOINED, task);
	notice->of = reported;
	bpf_ringbuf_submit(notice, BPF_RB_FORCE_WAKEUP);
}

/* Since Linux 6.16 it is known whether it was dumpable: in older kernels a process that ends has no memory any more. */
static __always_inline void report_owner(struct tc_notice *notice, struct task_struct *task)
{
	const struct cred *cred = task->real_cred;

	notice->as.uid = cred->uid.val;
	notice->as.gid = cred->gid.val;
	notice->as.capabilities = permitted_to(cred);
	notice->as.user_namespace = cred->user_ns->ns.inum;
	notice->is_hidden = !runs_as(cred, &notice->as) || !is_dumpable(task->mm);
}

/* Any process of the machine can exit with a status that is watched, as often as it likes. */
static __always_inline bool is_kept_for_others(__u32 exit_code)
{
	return !(exit_code & 0x7f) && bpf_ringbuf_query(&notices, BPF_RB_AVAIL_DATA) > TC_NOTICES_BYTES / 2;
}

static __always_inline void report_end(struct task_struct *task)
{
	__u64 cgroup = bpf_get_current_cgroup_id();
	struct tc_notice *notice;
	__u32 pid = task->tgid;
	struct tc_member *member;
	struct tc_sets *sets;
	__u32 i;

	if (is_kept_for_others(exit_code_of(task)))
		return;
	notice = room_for_notice();
	if (!notice)
		return;
	begin_notice(notice, TC_NOTICE_END, task);
	notice->exit_code = exit_code_of(task);
	notice->initial_pid = pid;
	notice->own_pid = own_pid_of(task);
	report_owner(notice, task);
	member = bpf_map_lookup_elem(&members, &pid);
	if (member)
		notice->of = member->of;
	sets = bpf_map_lookup_elem(&cgroups, &cgroup);
	for (i = 0; sets && i < TC_MEMBER_WORDS; i++)
		notice->of.words[i] |= sets->words[i];
	bpf_ringbuf_submit(notice, BPF_RB_FORCE_WAKEUP);
}

#endif
