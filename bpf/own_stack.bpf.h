/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The stack that a thread began on, and how much of it is in use. */
#ifndef TRACECTL_OWN_STACK_BPF_H
#define TRACECTL_OWN_STACK_BPF_H

#include "bpf/cpu.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/mapping.bpf.h"

struct own_stack {
	__u64 low, high;	/* 0 if they are not known */
};

/* The stacks of threads that are not their process's first: to find one takes a walk through the mappings. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct own_stack);
} own_stacks SEC(".maps");

static __always_inline bool is_first_thread(struct task_struct *task)
{
	return task->pid == task->tgid;
}

/*
 * The first thread's stack lies below the data that the kernel put on it, and nothing else is within
 * 128 MiB below that (mmap_base() of the kernel). C libraries put the block that the thread pointer points to
 * at the top of a thread's stack, in the same mapping, with a guard below.
 */
static __always_inline void find_own_stack(struct own_stack *stack, struct task_struct *task,
					   struct mapping_walk *walk)
{
	struct vm_area_struct *area;
	__u64 top;

	if (is_first_thread(task)) {
		stack->high = task->mm->start_stack;
		stack->low = stack->high - (128 << 20);
		return;
	}
	top = thread_pointer(&task->thread);
	area = mapping_at(top, walk);
	if (!area)
		return;
	stack->high = top;
	stack->low = BPF_CORE_READ(area, vm_start);
}

static __always_inline bool is_on(const struct own_stack *stack, __u64 address)
{
	return address >= stack->low && address < stack->high;
}

/*
 * A stack that was found stays valid: a thread that executes another program becomes its first. If there is
 * no memory to store it, it is found each time.
 */
static __always_inline void learn_own_stack(struct own_stack *stack, struct task_struct *task,
					    struct mapping_walk *walk)
{
	struct own_stack *kept = 0;

	if (!is_first_thread(task))
		kept = bpf_task_storage_get(&own_stacks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (kept && kept->high) {
		*stack = *kept;
		return;
	}
	find_own_stack(stack, task, walk);
	if (kept)
		*kept = *stack;
}

/* The bytes of the thread's own stack in use. False while it runs on another stack. */
static __always_inline bool stack_bytes_here(bpf_user_pt_regs_t *ctx, __u64 *bytes,
					     struct mapping_walk *walk)
{
	struct own_stack stack = {};

	learn_own_stack(&stack, bpf_get_current_task_btf(), walk);
	if (!is_on(&stack, read_register(ctx, TC_STACK_POINTER)))
		return false;
	*bytes = stack.high - read_register(ctx, TC_STACK_POINTER);
	return true;
}

/* The same as a function of its own, for callers with a frame to spare (bpf/loop.bpf.h). */
__on_its_own bool stack_bytes(bpf_user_pt_regs_t *ctx, __u64 *bytes)
{
	struct mapping_walk walk;

	return bytes && stack_bytes_here(ctx, bytes, &walk);
}

#endif
