/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The calls that are open, by thread and session, the innermost last. A call is known by where its
 * return address stands: no other function of that stack has its own there while it lasts.
 *
 * A call can end without its return being seen: by an exception, by longjmp, with its thread. It is
 * closed as unwound once that is certain, and never before:
 *  - another call of the thread has its return address there, or further up on the same stack;
 *  - or what stands there is another address than the call's own.
 * Where stacks are switched, as coroutines do, the second is the only sign: the calls of a stack that
 * is put aside stay open. Only the stack that a thread began on is known for one (on_own_stack).
 */
#ifndef TRACECTL_CALLS_BPF_H
#define TRACECTL_CALLS_BPF_H

enum way { BY_TRAMPOLINE, BY_EXITS };

struct call {
	__u64 sp;		/* where its return address is */
	__u64 return_address;	/* 0: by a trampoline, which is what stands there */
	__u64 began_ns;		/* CLOCK_BOOTTIME */
	__u64 within_ns;	/* spent in calls that it made and that have ended */
	__u32 slot;
	__u32 serial;		/* of its hook */
	__u32 way;
	__u32 arg_valid;
	__u64 args[TC_CALL_ARGS];
};

struct calls {
	__u64 born_ns;			/* of the thread: its number may come to mean another */
	__u64 stack_low, stack_high;	/* of the stack it began on; 0 if they are not known */
	__u64 depth;
	struct call open[TC_MAX_DEPTH];
};

struct caller {
	__u32 tid;	/* in the initial namespace */
	__u32 session;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TC_MAX_CALLERS);
	__type(key, struct caller);
	__type(value, struct calls);
} callers SEC(".maps");

static const struct calls no_calls;

/* Bit n: session n has calls in `callers`, or had. */
__u64 sessions_with_calls[TC_MAX_SESSIONS / 64];

/* What a call came to. */
struct ended {
	__u64 duration_ns;
	__u64 self_ns;
	__u64 retval;
	__u32 has_retval;
	__u32 kind;		/* TC_RECORD_RETURN or TC_RECORD_UNWOUND */
	__u64 return_address;	/* 0: not known */
	__u64 arg_valid;
	__u64 args[TC_CALL_ARGS];
};

static __always_inline struct caller caller_of(__u32 session)
{
	return (struct caller){ .tid = bpf_get_current_pid_tgid(), .session = session };
}

/* The calls of the current thread, if it has any. */
static __always_inline struct calls *calls_of_thread(__u32 session)
{
	struct caller caller = caller_of(session);
	struct calls *calls = bpf_map_lookup_elem(&callers, &caller);

	if (!calls || calls->born_ns != bpf_get_current_task_btf()->start_boottime)
		return 0;
	return calls;
}

static long note_stack_start(struct task_struct *task, struct vm_area_struct *area, void *start)
{
	*(__u64 *)start = area->vm_start;
	return 0;
}

/*
 * The first thread's stack lies below what the kernel put on it, and nothing else within 128 MiB of
 * it (arch/x86/mm/mmap.c, mmap_base). C libraries put what %fs points to on top of a thread's stack,
 * in one mapping, with a guard below.
 */
static __always_inline void find_own_stack(struct calls *calls, struct task_struct *task)
{
	__u64 low = 0, top;

	if (task->pid == task->tgid) {
		calls->stack_high = task->mm->start_stack;
		calls->stack_low = calls->stack_high - (128 << 20);
		return;
	}
	top = task->thread.fsbase;
	if (bpf_find_vma(task, top, note_stack_start, &low, 0) || !low)
		return;
	calls->stack_high = top;
	calls->stack_low = low;
}

static __always_inline struct calls *begin_calls(__u32 session)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct caller caller = caller_of(session);
	struct calls *calls;

	bpf_map_update_elem(&callers, &caller, &no_calls, BPF_ANY);
	calls = bpf_map_lookup_elem(&callers, &caller);
	if (!calls)
		return 0;
	calls->born_ns = task->start_boottime;
	find_own_stack(calls, task);
	__sync_fetch_and_or(&sessions_with_calls[session / 64 % (TC_MAX_SESSIONS / 64)],
			    1ULL << session % 64);
	return calls;
}

static __always_inline bool on_own_stack(const struct calls *calls, __u64 address)
{
	return address >= calls->stack_low && address < calls->stack_high;
}

/*
 * Whether the call has ended, seen from where another begins or ends with its return address at sp.
 * By a trampoline calls of one function follow one another at the same place where it jumps to its
 * own start, and all of them return.
 */
static __always_inline bool is_over(const struct calls *calls, const struct call *call, __u64 sp,
				    bool begins)
{
	__u64 there = 0;

	if (call->sp >= sp)
		return call->sp == sp && begins && call->way == BY_EXITS;
	if (on_own_stack(calls, call->sp) && on_own_stack(calls, sp))
		return true;
	if (call->way == BY_TRAMPOLINE)
		return false;
	return !bpf_probe_read_user(&there, sizeof(there), (const void *)call->sp) &&
	       there != call->return_address;
}

static __always_inline struct call *call_at(const struct calls *calls, __u64 index)
{
	return (struct call *)&calls->open[index & (TC_MAX_DEPTH - 1)];
}

enum { NO_CALL = TC_MAX_DEPTH };

/*
 * A call that is over, the innermost first, or NO_CALL. Calls of one stack end in their order: where
 * only the stack that the thread began on is concerned the innermost tells for all.
 */
__on_its_own __u64 find_over(const struct calls *calls, __u64 sp, bool begins)
{
	struct bpf_iter_num steps;
	bool found = false;
	__u64 i;

	if (!calls || !calls->depth)
		return NO_CALL;
	i = calls->depth - 1;
	if (is_over(calls, call_at(calls, i), sp, begins))
		return i;
	if (on_own_stack(calls, sp) && on_own_stack(calls, call_at(calls, i)->sp))
		return NO_CALL;
	bpf_iter_num_new(&steps, 0, TC_MAX_DEPTH);
	while (bpf_iter_num_next(&steps)) {
		checked_as_used(i);
		found = is_over(calls, call_at(calls, i), sp, begins);
		if (found || !i)
			break;
		i--;
	}
	bpf_iter_num_destroy(&steps);
	return found ? i : NO_CALL;
}

/* Makes the call the innermost, behind those that are open beside it on other stacks. */
__on_its_own int make_innermost(struct calls *calls, __u64 i)
{
	struct bpf_iter_num steps;
	struct call moved;
	__u64 last;

	if (!calls || i + 1 >= calls->depth)
		return 0;
	last = calls->depth - 1;
	moved = *call_at(calls, i);
	bpf_iter_num_new(&steps, 0, TC_MAX_DEPTH);
	while (bpf_iter_num_next(&steps)) {
		checked_as_used(i);
		if (i >= last)
			break;
		*call_at(calls, i) = *call_at(calls, i + 1);
		i++;
	}
	bpf_iter_num_destroy(&steps);
	*call_at(calls, last) = moved;
	return 0;
}

/* Takes the innermost call off; what it took is the share of the call around it. */
static __always_inline void end_innermost(struct calls *calls, struct ended *ended)
{
	__u64 depth = calls->depth - 1;
	struct call *call = call_at(calls, depth), *around;

	ended->duration_ns = bpf_ktime_get_boot_ns() - call->began_ns;
	ended->self_ns = ended->duration_ns - call->within_ns;
	ended->return_address = call->return_address;
	ended->arg_valid = call->arg_valid;
	__builtin_memcpy(ended->args, call->args, sizeof(ended->args));
	calls->depth = depth;
	if (!depth)
		return;
	around = call_at(calls, depth - 1);
	if (around->sp >= call->sp)
		around->within_ns += ended->duration_ns;
}

/* The hook with this serial number, as it is in force; false where there is none any more. */
__on_its_own bool find_hook(__u64 under, __u32 slot, __u32 serial, struct tc_hook *found)
{
	const struct tc_generation *generation = &slots[slot % TC_MAX_SLOTS].generation[under & 1];
	const struct tc_hook *hook = &generation->first;
	struct bpf_iter_num steps;
	__u32 next;

	if (!found || !generation->hook_count)
		return false;
	*found = *hook;
	bpf_iter_num_new(&steps, 0, TC_MAX_HOOKS_OF_SLOT);
	while (bpf_iter_num_next(&steps)) {
		if (found->flags >> TC_SERIAL_SHIFT == serial)
			break;
		next = found->next;
		if (!next)
			break;
		hook = bpf_map_lookup_elem(&hooks, &next);
		if (!hook)
			break;
		*found = *hook;
	}
	bpf_iter_num_destroy(&steps);
	return found->flags & TC_CALL && found->flags >> TC_SERIAL_SHIFT == serial;
}

/* False if nobody wants to know of its end any more. */
static __always_inline bool end_innermost_for(struct calls *calls, __u64 under, struct ended *ended,
					      struct tc_hook *hook)
{
	const struct call *call = call_at(calls, calls->depth - 1);

	end_innermost(calls, ended);
	return find_hook(under, call->slot, call->serial, hook);
}

#endif
