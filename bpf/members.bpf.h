/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The processes that belong to a set target, updated before user code runs; the last thread's exit ends the
 * membership. User space adds the processes that existed before (finding/set_targets.cpp). There are two kinds
 * of sets:
 *
 *   `-x`   processes that run a file: children inherit it, an exec sets it by the executed file
 *   `-f`   a process and its children, or its next child only: children inherit what the parent's tc_member
 *          hands on, an exec ends it unless it executes the file that the chosen process runs
 *
 * Pointers of the kernel are read by BPF_CORE_READ. If a program loads one itself the verifier searches all
 * types of the kernel for the type of the field (kernel/bpf/verifier.c, check_ptr_to_btf_access), which takes a
 * millisecond each time.
 */
#ifndef TRACECTL_MEMBERS_BPF_H
#define TRACECTL_MEMBERS_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/last_thread.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/notices.bpf.h"

static __always_inline bool add_sets(struct tc_sets *to, const struct tc_sets *more)
{
	__u32 i;

	if (!more)
		return false;
	for (i = 0; i < TC_MEMBER_WORDS; i++)
		to->words[i] |= more->words[i];
	return true;
}

/* Two threads of the parent may fork at the same time: only one of them takes the sets for one child. */
static __always_inline bool hand_on(struct tc_member *parent, struct tc_member *child)
{
	__u64 any = 0;
	__u32 i;

	for (i = 0; i < TC_MEMBER_WORDS; i++) {
		__u64 next = 0;

		if (parent->to_next.words[i])
			next = __sync_lock_test_and_set(&parent->to_next.words[i], 0);
		child->to_children.words[i] = parent->to_children.words[i];
		child->of.words[i] = child->to_children.words[i] | next;
		any |= child->of.words[i];
	}
	child->proven = parent->proven;
	child->proven_exec = parent->proven_exec;
	for (i = 0; i < TC_PROOF_WORDS; i++)
		any |= child->proven.words[i];
	return any;
}

/* Members are stored by ids of the initial namespace: set targets need the engine to be there. */
SEC("tp_btf/sched_process_fork")
int on_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0];
	struct task_struct *child = (void *)ctx[1];
	__u32 parent_pid = parent->tgid, child_pid = child->tgid;
	__u64 cgroup = bpf_get_current_cgroup_id();
	struct tc_member *member, handed = {};

	if (child->pid != child->tgid)
		return 0;
	member = bpf_map_lookup_elem(&members, &parent_pid);
	if (member && hand_on(member, &handed))
		bpf_map_update_elem(&members, &child_pid, &handed, BPF_ANY);
	else
		bpf_map_delete_elem(&members, &child_pid);
	add_sets(&handed.of, bpf_map_lookup_elem(&cgroups, &cgroup));
	report_joining(child, &handed.of);
	return 0;
}

static __always_inline void keep_families(const struct tc_sets *kept, const struct tc_member *before,
					  struct tc_member *member)
{
	__u32 i;

	for (i = 0; i < TC_MEMBER_WORDS; i++) {
		member->of.words[i] = before->of.words[i] & kept->words[i];
		member->to_children.words[i] = before->to_children.words[i] & kept->words[i];
		member->to_next.words[i] = before->to_next.words[i] & kept->words[i];
	}
}

static __always_inline void join(__u32 target, struct tc_member *member)
{
	__u32 word = target / 64;

	if (word >= TC_MEMBER_WORDS)
		return;
	member->of.words[word] |= 1ULL << (target % 64);
	member->to_children.words[word] |= 1ULL << (target % 64);
}

static __always_inline bool is_in_any(const struct tc_member *member)
{
	__u64 any = 0;
	__u32 i;

	for (i = 0; i < TC_MEMBER_WORDS; i++)
		any |= member->of.words[i];
	return any;
}

SEC("tp_btf/sched_process_exec")
int on_exec(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct linux_binprm *binprm = (void *)ctx[2];
	struct tc_executable key = {};
	struct tc_member member = {}, *before;
	struct inode *inode = BPF_CORE_READ(binprm, file, f_inode);
	struct tc_sets *kept;
	__u64 cgroup = bpf_get_current_cgroup_id();
	__u32 pid = task->tgid;
	__u32 *target;

	key.inode = BPF_CORE_READ(inode, i_ino);
	key.device = BPF_CORE_READ(inode, i_sb, s_dev);
	report_exec(task, &key);
	before = bpf_map_lookup_elem(&members, &pid);
	kept = bpf_map_lookup_elem(&families, &key);
	if (before && kept)
		keep_families(kept, before, &member);
	target = bpf_map_lookup_elem(&executables, &key);
	if (target)
		join(*target, &member);
	if (is_in_any(&member))
		bpf_map_update_elem(&members, &pid, &member, BPF_ANY);
	else
		bpf_map_delete_elem(&members, &pid);
	add_sets(&member.of, bpf_map_lookup_elem(&cgroups, &cgroup));
	report_joining(task, &member.of);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int on_exit(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 pid = task->tgid;

	if (!no_thread_is_left(task))
		return 0;
	if (is_watched_end(task)) {
		/* Only the thread that reports may delete the membership, because it reads it first. */
		if (!is_first_to(END_REPORTED, task))
			return 0;
		report_end(task);
	}
	bpf_map_delete_elem(&members, &pid);
	return 0;
}

#endif
