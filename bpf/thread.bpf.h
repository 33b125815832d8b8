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

/* Ids in the engine's namespace: in a container the kernel's own ids are those of the host. */
static __always_inline void learn_ids(struct thread *thread, struct task_struct *task)
{
	struct bpf_pidns_info ids = {};

	if (in_own_pid_namespace) {
		/* Sets 0 if it fails: the thread is not visible there. */
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
