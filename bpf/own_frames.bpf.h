/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Since Linux 6.13, and in updates of 6.12, functions of a program whose frames take 64 bytes or more
 * would have them in memory of their CPU, one for each function (kernel/bpf/verifier.c,
 * bpf_enable_priv_stack). The kernel ensures that no such program interrupts itself on a CPU, but not for
 * uprobes: they do not take bpf_prog_active, and if the kernel preempts tasks one hit could overwrite the
 * frames of another.
 *
 * A program with a tail call has all its frames on its thread's stack (check_max_stack_depth). So each
 * uprobe program with such frames has a tail call, which is never taken, and uses no more than the
 * stack's 512 bytes. The program that sleeps may have no tail call: bpf/present.bpf.h.
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

/* The kernel lets a map of programs be used by one kind of program only. */
struct no_programs no_programs SEC(".maps"), no_sessions SEC(".maps");

static __always_inline void keep_frames_on_stack(void *ctx, struct no_programs *none)
{
	if (unknown_zero)
		bpf_tail_call(ctx, none, 0);
}

#endif
