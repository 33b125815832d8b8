/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Where open calls are kept, by thread or goroutine and session. What they mean: bpf/calls.bpf.h. */
#ifndef TRACECTL_CALLERS_BPF_H
#define TRACECTL_CALLERS_BPF_H

#include "bpf/abi.h"
#include "bpf/goroutine.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/own_stack.bpf.h"
#include "bpf/shares.bpf.h"

/* The first arguments of a call, as they were when it began. */
struct call_args {
	__u64 valid;	/* bit n: argument n could be read */
	__u64 value[TC_CALL_ARGS];
};

struct call {
	__u64 sp;		/* the place of its return address, less the calls' `stack_top` */
	__u64 return_address;	/* 0: replaced by the address of a trampoline */
	__u64 began_ns;		/* CLOCK_BOOTTIME */
	__u64 within_ns;	/* time in calls that it made and that have ended */
	__u64 probes_ns;	/* the calls' `probes_ns` when it began */
	__u32 slot;
	__u32 serial;		/* of its hook */
	__u32 number;		/* among the thread's, from 1 on */
	__u8 way;		/* enum tc_way */
	__u8 cost;		/* enum tc_cost_class of the site where it began */
	__u16 is_of_graph;
	__u32 watched_slot;	/* of the innermost call, this one or one around it, whose blocks are measured; 0: none */
	__u32 watched_serial;	/*   of its hook */
	__u64 path;		/* 0: neither it nor a call around it is of a graph */
	struct tc_off_cpu off_cpu;	/* when it began */
	struct call_args args;
};

/* A call, or a pair, that has ended. */
struct ended {
	__u64 duration_ns;	/* without probes_ns */
	__u64 self_ns;
	__u64 probes_ns;	/* the time of the session's probes within the call */
	__u64 blocked_ns, runnable_ns;	/* the parts of duration_ns in which its thread was not running, */
	__u64 is_split;			/*   if they are known */
	__u64 retval;
	__u64 second_retval;
	__u32 has_retval;
	__u32 kind;		/* TC_RECORD_RETURN or TC_RECORD_UNWOUND */
	__u64 return_address;	/* 0: not known */
	__u64 path;		/* as in struct call */
	struct call_args args;
	__u64 call;		/* as in tc_end; 0: of no graph */
};

struct caller {
	__u32 id;		/* of the thread, or of the goroutine's process, in the initial namespace */
	__u32 session;
	__u64 goroutine;	/* 0: a thread */
};

struct calls {
	struct caller caller;
	__u64 born_ns;			/* of the thread or the process: its number may be reused */
	__u64 stack_top;		/* of a goroutine, at this hit; of a thread 0 */
	struct own_stack stack;
	__u64 depth;
	__u32 trampolines;	/* open calls that have a trampoline */
	__u32 graph_depth;	/* open calls that are parts of a graph */
	__u32 last_number;
	__u64 blocks;		/* the thread's blocks of deep calls */
	__u64 hit_ns;		/* when the present hit began, or the last one */
	__u64 left_out_ns;	/* of probes_ns: for that hit, if it is an end */
	__u64 probes_ns;	/* the time that hits of the session at calls have taken while others were open */
	__u64 has_paths;	/* a call that keeps its path has been opened */
	__u64 jumped_to;	/* the function to which a graph's outermost call just jumped when it ended, or 0 */
	__u64 jumped_sp;	/* the place of its return address, which will be that function's */
	__u32 held_call;	/* number of the call for whose end the records wait, or 0 */
	__u32 held_blocks;	/* the thread's blocks of held records, */
	__u32 held_at;		/*   and the one that is being written */
	__u32 held_lost;	/* records for which there was no room */
	struct ended ended;	/* the last call that has ended, */
	struct tc_hook ended_for;	/*   and the hook that follows it */
	struct call open[TC_NEAR_CALLS];
};

/* The open calls beyond TC_NEAR_CALLS, in blocks, from block 1 on. */
struct deep_key {
	struct caller caller;
	__u32 block;
	__u32 pad;
};

struct deep_calls {
	struct call open[TC_NEAR_CALLS];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TC_MAX_DEEP_BLOCKS);
	__type(key, struct deep_key);
	__type(value, struct deep_calls);
} deep_callers SEC(".maps");

static const struct deep_calls no_deep_calls;

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

/* Whether any session has followed calls of goroutines. */
__u32 follows_goroutines;

/* The current thread; or a goroutine that it runs, unless that is 0. */
static __always_inline struct caller caller_of(__u32 session, __u64 goroutine)
{
	__u64 thread = bpf_get_current_pid_tgid();

	return (struct caller){ .id = goroutine ? thread >> 32 : thread,
				.session = session,
				.goroutine = goroutine };
}

static __always_inline __u64 birth_of(const struct caller *caller)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return caller->goroutine ? task->group_leader->start_boottime : task->start_boottime;
}

/* The calls of a caller of the current process, if it has any. */
static __always_inline struct calls *calls_of(const struct caller *caller)
{
	struct calls *calls = bpf_map_lookup_elem(&callers, caller);

	return calls && calls->born_ns == birth_of(caller) ? calls : 0;
}

/* The calls of the current thread, if it has any. */
static __always_inline struct calls *calls_of_thread(__u32 session)
{
	struct caller caller = caller_of(session, 0);

	return calls_of(&caller);
}

/* The calls of the one whose calls the hook follows, if it has any. */
static __always_inline struct calls *calls_by(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook)
{
	struct goroutine goroutine = {};
	struct caller caller;
	struct calls *calls;

	if (hook->flags & TC_BY_GOROUTINE && !find_goroutine(ctx, &goroutine))
		return 0;
	caller = caller_of(hook->session, goroutine.address);
	calls = calls_of(&caller);
	if (calls)
		calls->stack_top = goroutine.stack_high;
	return calls;
}

/* Overwrites the calls of an earlier thread with this number. */
static __always_inline bool put_calls(const struct caller *caller)
{
	bool is_new = !bpf_map_lookup_elem(&callers, caller);

	if (is_new && !take_room_for(caller->session, TC_TABLE_CALLERS))
		return false;
	if (!bpf_map_update_elem(&callers, caller, &no_calls, BPF_ANY))
		return true;
	if (is_new)
		give_room_of(caller->session, TC_TABLE_CALLERS);
	return false;
}

static __always_inline struct calls *begin_calls_of(const struct caller *caller)
{
	__u32 session = caller->session;
	struct calls *calls;

	if (!put_calls(caller))
		return 0;
	calls = bpf_map_lookup_elem(&callers, caller);
	if (!calls)
		return 0;
	calls->born_ns = birth_of(caller);
	calls->caller = *caller;
	__sync_fetch_and_or(&sessions_with_calls[session / 64 % (TC_MAX_SESSIONS / 64)],
			    1ULL << session % 64);
	return calls;
}

static __noinline struct calls *begin_calls_of_thread(__u32 session)
{
	struct caller caller = caller_of(session, 0);
	struct calls *calls = begin_calls_of(&caller);
	struct mapping_walk walk;

	if (calls)
		find_own_stack(&calls->stack, bpf_get_current_task_btf(), &walk);
	return calls;
}

static __noinline struct calls *begin_calls_of_goroutine(bpf_user_pt_regs_t *ctx, __u32 session)
{
	struct goroutine goroutine;
	struct caller caller;
	struct calls *calls;

	if (!find_goroutine(ctx, &goroutine))
		return 0;
	caller = caller_of(session, goroutine.address);
	follows_goroutines = 1;
	calls = begin_calls_of(&caller);
	if (!calls)
		return 0;
	calls->stack_top = goroutine.stack_high;
	calls->stack.high = ~0ULL;	/* all places, which are distances from the stack's top */
	return calls;
}

/* As calls_by(), for one that has none yet. */
static __always_inline struct calls *begin_calls(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook)
{
	return hook->flags & TC_BY_GOROUTINE ? begin_calls_of_goroutine(ctx, hook->session)
					     : begin_calls_of_thread(hook->session);
}

#endif
