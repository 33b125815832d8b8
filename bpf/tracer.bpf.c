// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * The programs that run when a probe is hit, and those that keep the sets of processes true.
 *
 * The gate: one 64-bit word, the epoch, is loaded once a hit; its lowest bit picks the generation
 * of the slot's settings. User space switches every site of every session by one store to it.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <asm/bpf_perf_event.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "bpf/abi.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/delay.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/own_frames.bpf.h"
#include "bpf/handover.bpf.h"
#include "bpf/access.bpf.h"
#include "bpf/quota.bpf.h"
#include "bpf/shares.bpf.h"
#include "bpf/match.bpf.h"
#include "bpf/text.bpf.h"
#include "bpf/deepest.bpf.h"
#include "bpf/calls.bpf.h"
#include "bpf/desk.bpf.h"
#include "bpf/held.bpf.h"
#include "bpf/notices.bpf.h"
#include "bpf/proofs.bpf.h"
#include "bpf/marks.bpf.h"
#include "bpf/own_tags.bpf.h"
#include "bpf/operands.bpf.h"
#include "bpf/machine.bpf.h"
#include "bpf/terms.bpf.h"
#include "bpf/value_text.bpf.h"
#include "bpf/walk.bpf.h"
#include "bpf/key_stack.bpf.h"
#include "bpf/aggregate.bpf.h"
#include "bpf/stream.bpf.h"
#include "bpf/act.bpf.h"

/* The hook with this number, which becomes that of the one after it; null where there is none. */
static __always_inline const struct tc_hook *take_next_hook(__u32 *next)
{
	const struct tc_hook *hook;

	if (!*next)
		return 0;
	hook = bpf_map_lookup_elem(&hooks, next);
	if (hook)
		*next = hook->next;
	return hook;
}

/* A program of an older epoch may still run here, preempted: it is not the first of the newer. */
static __always_inline void note_first_hit(__u64 under)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct tc_first_hit *first = bpf_map_lookup_elem(&first_hits, &cpu);

	if (!first || first->epoch >= under)
		return;
	first->ts_ns = bpf_ktime_get_boot_ns();
	__sync_lock_test_and_set(&first->epoch, under);	/* after the time, for whoever reads both */
}

/* Whether the hit is anybody's. */
static __noinline bool attend(__u32 to, __u64 under)
{
	struct thread thread;

	if (to & TC_IGNORE_PROCESS) {
		learn_ids(&thread, bpf_get_current_task_btf());
		if (thread.pid == *(volatile __u32 *)&ignored_pid)
			return false;
	}
	if (to & TC_WATCH_SWITCH)
		note_first_hit(under);
	return true;
}

static __always_inline __u64 load_epoch(void)
{
	__u64 loaded = *(volatile __u64 *)&epoch;

	test_delay();
	return loaded;
}

/*
 * The settings of the site under the hit's epoch; null where nobody wants the hit. The newer link of a handover
 * may serve hooks that on_count() cannot: what this takes of them began before the switch, or could be given no
 * token, and is for the settings before.
 */
static __always_inline struct tc_generation *generation_of(struct pt_regs *ctx, struct hit *hit,
							   const bool counts)
{
	struct tc_generation *generation;
	__u64 cookie, link, served_by;
	__u32 attend_to;

	attend_to = *(volatile __u32 *)&attention;
	if (attend_to && !attend(attend_to, hit->epoch))
		return 0;
	if (!*(volatile __u32 *)&in_force[hit->epoch & 1])
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	hit->slot = cookie % TC_MAX_SLOTS;
	link = cookie >> 32;
	generation = &slots[hit->slot].generation[hit->epoch & 1];
	if (!generation->hook_count)
		return 0;
	served_by = *(volatile __u64 *)&generation->link;
	if (served_by != link && !takes_in_handover(served_by, link, hit->slot))
		return 0;
	if (counts && (__u32)served_by != link) {
		generation = &slots[hit->slot].generation[(hit->epoch & 1) ^ 1];
		if (!generation->hook_count)
			return 0;
	}
	hit->ctx = ctx;
	return generation;
}

/* The hit has its epoch. `counts`: as on_count() does. */
static __always_inline void run_hooks(bpf_user_pt_regs_t *ctx, struct hit *hit, const bool counts)
{
	struct tc_generation *generation = generation_of(ctx, hit, counts);
	const struct tc_hook *hook;
	struct bpf_iter_num others;

	if (!generation)
		return;
	hit->taken = takes(&generation->first);
	if (hit->taken && counts)
		count_hit(&generation->first);
	else if (hit->taken)
		act(hit, &generation->first, true);
	hit->next = generation->first.next;
	if (!hit->next)
		return;
	bpf_iter_num_new(&others, 0, TC_MAX_HOOKS_OF_SLOT);
	while (bpf_iter_num_next(&others)) {
		hook = take_next_hook(&hit->next);
		if (!hook)
			break;
		if (hit->taken && !(hook->flags & TC_FIRST_OF_GROUP))
			continue;
		hit->taken = takes(hook);
		if (hit->taken && counts)
			count_hit(hook);
		else if (hit->taken)
			act_on_hit(ctx, hook, hit->epoch);
	}
	bpf_iter_num_destroy(&others);
}

static __always_inline void run_site(struct pt_regs *ctx, const bool counts)
{
	struct hit hit;

	hit.epoch = load_epoch();
	run_hooks(ctx, &hit, counts);
}

SEC("uprobe")
int on_site(struct pt_regs *ctx)
{
	keep_frames_on_stack(ctx, &no_programs);
	run_site(ctx, false);
	return 0;
}

/* Where all hooks have to do no more than to count: checked in a fraction of the time. */
SEC("uprobe")
int on_count(struct pt_regs *ctx)
{
	keep_frames_on_stack(ctx, &no_programs);
	run_site(ctx, true);
	return 0;
}

#include "bpf/present.bpf.h"
#include "bpf/returns.bpf.h"
#include "bpf/pairs.bpf.h"
#include "bpf/members.bpf.h"
#include "bpf/cgroups.bpf.h"
#include "bpf/linkers.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
