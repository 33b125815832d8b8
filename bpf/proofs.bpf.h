/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Proofs that a user may see a process: a descriptor of /proc/PID/mem that the user's client has opened. The kernel
 * gives it only to those who may attach to the process by ptrace(2) (fs/proc/base.c, proc_mem_open), by all of its
 * checks: ids, capabilities, Landlock, Yama, SELinux, AppArmor.
 *
 * User space cannot recognize such a descriptor: its link and its device are those of any procfs that the user has
 * mounted, and reading it may wait for ever for a page that the user holds back. The kernel's own structures show
 * it. The descriptor refers to the memory at the time of opening: after an exec the process has another one.
 */
#ifndef TRACECTL_PROOFS_BPF_H
#define TRACECTL_PROOFS_BPF_H

#include <linux/magic.h>

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"

/* User space sets these and then reads the iterator, one request at a time. */
__u32 asked_memories[TC_MAX_PROOFS];	/* descriptors */
__u32 asked_memories_count;
__u32 asking_session;			/* gets the proofs; TC_MAX_SESSIONS: none */

static __always_inline bool is_asked_for(__u32 fd)
{
	__u32 count = *(volatile __u32 *)&asked_memories_count;
	__u32 i;

	for (i = 0; i < TC_MAX_PROOFS && i < count; i++)
		if (((volatile __u32 *)asked_memories)[i] == fd)
			return true;
	return false;
}

/* The files `environ` and `auxv` refer to the same memory, but are opened by a weaker check. */
static __always_inline bool is_named_mem(struct file *file)
{
	char name[4] = {};

	if (bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(file, f_path.dentry, d_name.name)) != 4)
		return false;
	return name[0] == 'm' && name[1] == 'e' && name[2] == 'm';
}

/* include/linux/fs.h */
#define FMODE_READ 1U

static __always_inline struct pid *pid_of_memory(struct file *file)
{
	struct inode *inode = file->f_inode;
	struct proc_inode *proc;

	if (!(file->f_mode & FMODE_READ) || inode->i_sb->s_magic != PROC_SUPER_MAGIC || !is_named_mem(file))
		return 0;
	proc = (void *)inode - bpf_core_field_offset(struct proc_inode, vfs_inode);
	return BPF_CORE_READ(proc, pid);
}

static __always_inline int number_at(struct pid *pid, __u32 level, struct pid_namespace **of)
{
	void *at = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
		   level * bpf_core_type_size(struct upid);
	int nr = 0;

	bpf_probe_read_kernel(of, sizeof(*of), at + bpf_core_field_offset(struct upid, ns));
	bpf_probe_read_kernel(&nr, sizeof(nr), at + bpf_core_field_offset(struct upid, nr));
	return nr;
}

/* The thread of the id, or null. Use only probe reads on it; the iterator runs under RCU. */
static __always_inline struct task_struct *task_of(struct pid *pid)
{
	void *link = BPF_CORE_READ(pid, tasks[0].first);	/* PIDTYPE_PID: include/linux/pid_types.h */

	return link ? link - bpf_core_field_offset(struct task_struct, pid_links) : 0;
}

/* The process id in the reader's namespace; 0 if the process is not visible there. */
static __always_inline __u32 number_as_reader_sees(struct task_struct *task)
{
	struct pid *own = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid);
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	struct pid_namespace *readers = 0, *its = 0;
	__u32 level = BPF_CORE_READ(own, level), number;

	if (BPF_CORE_READ(pid, level) < level)
		return 0;
	number_at(own, level, &readers);
	number = number_at(pid, level, &its);
	return readers == its ? number : 0;
}

/* `exec_id` is read before the memory is compared: an exec changes the memory first, then the number. */
static __always_inline bool note_proof(struct task_struct *task, __u32 session, __u64 exec_id)
{
	__u32 pid = BPF_CORE_READ(task, tgid);
	__u64 word = session / 64;
	struct tc_member *member, none = {};

	checked_as_used(word);
	if (word >= TC_PROOF_WORDS)
		return true;
	bpf_map_update_elem(&members, &pid, &none, BPF_NOEXIST);
	member = bpf_map_lookup_elem(&members, &pid);
	if (!member)
		return false;
	if (member->proven_exec != exec_id) {
		__builtin_memset(&member->proven, 0, sizeof(member->proven));
		member->proven_exec = exec_id;
	}
	__sync_fetch_and_or(&member->proven.words[word], 1ULL << (session % 64));
	return true;
}

static __always_inline __u32 prove(struct task_struct *task, void *memory)
{
	__u64 exec_id = BPF_CORE_READ(task, self_exec_id);

	if (!memory || (void *)BPF_CORE_READ(task, mm) != memory ||
	    !note_proof(task, *(volatile __u32 *)&asking_session, exec_id))
		return 0;
	return number_as_reader_sees(task);
}

/* Runs for each descriptor of the reader. */
SEC("?iter/task_file")
int see_memory(struct bpf_iter__task_file *ctx)
{
	struct file *file = ctx->file;
	struct tc_memory seen = { .fd = ctx->fd };
	struct task_struct *task;
	struct pid *pid;

	if (!file || !is_asked_for(seen.fd))
		return 0;
	pid = pid_of_memory(file);
	if (!pid)
		return 0;
	task = task_of(pid);
	if (!task)
		return 0;
	seen.pid = prove(task, file->private_data);
	seen.initial_pid = BPF_CORE_READ(task, tgid);
	if (seen.pid)
		bpf_seq_write(ctx->meta->seq, &seen, sizeof(seen));
	return 0;
}

#endif
