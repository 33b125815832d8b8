/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Since Linux 6.13, and in updates of 6.12, functions of a program whose frames take 64 bytes or more
 * would have them in memory of their CPU, one for each function (kernel/bpf/verifier.c,
 * bpf_enable_priv_stack). The kernel sees to it that no program of that kind interrupts itself on a CPU,
 * but not for uprobes: they do not take bpf_prog_active, and where the kernel preempts tasks one hit
 * could go on in the frames of another.
 *
 * A program with a tail call has all its frames on its thread's stack (check_max_stack_depth). So each
 * program at a uprobe that has such frames has a tail call, that is never taken, and no more than the
 * stack's 512 bytes. The one that sleeps may have none: bpf/present.bpf.h.
 */
#ifndef TRACECTL_OWN_FRAMES_BPF_H
#define TRACECTL_OWN_FRAMES_BPF_H

#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"

struct no_programs {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
};

/* The kernel takes a map of programs for one kind only. */
struct no_programs no_programs SEC(".maps"), no_sessions SEC(".maps");

static __always_inline void keep_frames_on_stack(void *ctx, struct no_programs *none)
{
	if (unknown_zero)
		bpf_tail_call(ctx, none, 0);
}

#endif
