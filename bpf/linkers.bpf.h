/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Dynamic linkers, probed at the place where they inform debuggers of libraries they have mapped, before these
 * run constructors. A link of this program is for one process; after a hit user space reads what that maps. The
 * cookie is the linker's number.
 */
#ifndef TRACECTL_LINKERS_BPF_H
#define TRACECTL_LINKERS_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/notices.bpf.h"
#include "bpf/thread.bpf.h"

struct tc_linker linkers[TC_MAX_LINKERS];

/* A forked child has the breakpoint too, until the kernel finds that it is not for that process. */
SEC("uprobe")
int on_linker(bpf_user_pt_regs_t *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 number = bpf_get_attach_cookie(ctx);
	struct tc_notice *notice;
	struct tc_linker *linker;
	struct thread thread;

	if (number >= TC_MAX_LINKERS)
		return 0;
	linker = &linkers[number];
	if (!*(volatile __u32 *)&linker->listens)
		return 0;
	learn_ids(&thread, task);
	if (thread.pid != linker->pid || !__sync_lock_test_and_set(&linker->listens, 0))
		return 0;
	notice = room_for_notice();
	if (!notice) {
		*(volatile __u32 *)&linker->listens = 1;	/* the next hit sends the notice */
		return 0;
	}
	begin_notice(notice, TC_NOTICE_MAPPED, task);
	bpf_ringbuf_submit(notice, BPF_RB_FORCE_WAKEUP);
	return 0;
}

#endif
