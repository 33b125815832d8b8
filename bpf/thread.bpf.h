/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The thread that hits a probe. */
#ifndef TRACECTL_THREAD_BPF_H
#define TRACECTL_THREAD_BPF_H

#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/maps.bpf.h"

struct thread {
	__u32 pid;
	__u32 tid;
};

/* Ids as the engine sees them: in a container the kernel's own are the host's. */
static __always_inline void learn_ids(struct thread *thread, struct task_struct *task)
{
	struct bpf_pidns_info ids = {};

	if (in_own_pid_namespace) {
		/* Zeroed where it fails: the thread is not seen from there. */
		bpf_get_ns_current_pid_tgid(pid_namespace_device, pid_namespace_inode, &ids,
					    sizeof(ids));
		thread->pid = ids.tgid;
		thread->tid = ids.pid;
	} else {
		thread->pid = task->tgid;
		thread->tid = task->pid;
	}
}

static __always_inline struct thread ids_of_current(void)
{
	struct thread thread;

	learn_ids(&thread, bpf_get_current_task_btf());
	return thread;
}

#endif
