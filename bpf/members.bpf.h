/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Which processes belong to a set target (`-x`), kept true before user code runs: a fork hands
 * membership on, an exec sets it anew by the file executed, the last thread's exit ends it.
 * User space adds the processes that were there before (trace/targets.cpp).
 */
#ifndef TRACECTL_MEMBERS_BPF_H
#define TRACECTL_MEMBERS_BPF_H

/* Kept in ids of the initial namespace only: a set target needs the engine there. */
SEC("tp_btf/sched_process_fork")
int on_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0];
	struct task_struct *child = (void *)ctx[1];
	__u32 parent_pid = parent->tgid, child_pid = child->tgid;
	struct tc_member *member;

	if (child->pid != child->tgid)
		return 0;
	member = bpf_map_lookup_elem(&members, &parent_pid);
	if (member)
		bpf_map_update_elem(&members, &child_pid, member, BPF_ANY);
	else
		bpf_map_delete_elem(&members, &child_pid);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int on_exec(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct linux_binprm *binprm = (void *)ctx[2];
	struct tc_executable key = {};
	struct tc_member member = {};
	__u32 pid = task->tgid, word;
	__u32 *target;

	key.inode = binprm->file->f_inode->i_ino;
	key.device = binprm->file->f_inode->i_sb->s_dev;
	target = bpf_map_lookup_elem(&executables, &key);
	if (!target) {
		bpf_map_delete_elem(&members, &pid);
		return 0;
	}
	word = *target / 64;
	if (word >= TC_MEMBER_WORDS)
		return 0;
	member.words[word] = 1ULL << (*target % 64);
	bpf_map_update_elem(&members, &pid, &member, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int on_exit(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 pid = task->tgid;

	/* The tracepoint comes after this thread has been taken off the count. */
	if (task->signal->live.counter == 0)
		bpf_map_delete_elem(&members, &pid);
	return 0;
}

#endif
