/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * A user stack by frame pointers: the register points to where a function has saved its caller's,
 * and the return address lies above that.
 *
 * bpf_get_stack() is not used: at a function's entry the register is still the caller's, so its walk misses the
 * caller. Newer kernels add the caller if the probed instruction is `push %rbp`, but not if a probe was
 * moved after it, and they do not report why a walk ended.
 */
#ifndef TRACECTL_WALK_BPF_H
#define TRACECTL_WALK_BPF_H

#include "bpf/abi.h"
#include "bpf/cpu.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/loop.bpf.h"

struct walk {
	__u64 address;		/* of the last frame found */
	__u64 frame_pointer;
	__u64 caller;		/* the return address, if the frame pointer is still the caller's; else 0 */
	__u64 least;		/* the lowest frame pointer that is valid */
	__u32 end;		/* enum tc_walk_end, set when next_frame() returns false */
};

/* The `image` of tc_frames. */
static __always_inline __u64 image_of_current(void)
{
	return bpf_get_current_task_btf()->mm->start_stack;
}

static __always_inline __u64 code_address_here(__u64 saved)
{
	return code_address(saved, bpf_get_current_task_btf()->mm->task_size);
}

static __always_inline void begin_walk(struct walk *walk, bpf_user_pt_regs_t *ctx, __u8 words)
{
	__u64 stack = read_register(ctx, TC_STACK_POINTER);

	walk->address = read_register(ctx, TC_INSTRUCTION_POINTER);
	walk->frame_pointer = read_register(ctx, TC_FRAME_POINTER);
	walk->least = stack;
	walk->caller = 0;
	walk->end = TC_WALK_LIMIT;
	if (words)
		walk->caller = code_address_here(caller_without_frame(ctx, words - 1));
}

static __always_inline bool next_frame(struct walk *walk)
{
	__u64 saved[2];

	if (walk->caller) {
		walk->address = walk->caller;
		walk->caller = 0;
		return true;
	}
	if (!walk->frame_pointer) {
		walk->end = TC_WALK_OUTERMOST;
		return false;
	}
	if (walk->frame_pointer < walk->least || walk->frame_pointer & 7) {
		walk->end = TC_WALK_BAD_POINTER;
		return false;
	}
	if (bpf_probe_read_user(saved, sizeof(saved), (const void *)walk->frame_pointer)) {
		walk->end = TC_WALK_UNREADABLE;
		return false;
	}
	walk->least = walk->frame_pointer + sizeof(saved);
	walk->frame_pointer = saved[0];
	walk->address = code_address_here(saved[1]);
	return true;
}

#endif
