/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The gate: each hit loads one 64-bit word once, the epoch, and its lowest bit selects the generation
 * of the slot's settings. User space switches every site of every session by one store to it.
 */
#ifndef TRACECTL_GATE_BPF_H
#define TRACECTL_GATE_BPF_H

#include "bpf/abi.h"
#include "bpf/chunks.bpf.h"
#include "bpf/delay.bpf.h"
#include "bpf/handover.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/match.bpf.h"
#include "bpf/thread.bpf.h"

/* The hook with the number `next`, which is then set to that of the one after it; null if there is none. */
static __always_inline const struct tc_hook *take_next_hook(__u32 *next)
{
	const struct tc_hook *hook;

	if (!*next)
		return 0;
	hook = further_hook(*next);
	if (hook)
		*next = hook->next;
	return hook;
}

/* A program that loaded an older epoch may still run on this CPU, preempted: its hit must not be noted. */
static __always_inline void note_first_hit(__u64 under)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct tc_first_hit *first = bpf_map_lookup_elem(&first_hits, &cpu);

	if (!first || first->epoch >= under)
		return;
	first->ts_ns = bpf_ktime_get_boot_ns();
	__sync_lock_test_and_set(&first->epoch, under);	/* after the time, for readers of both */
}

/* Applies enum tc_attention; false if the hit is to be ignored. */
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
 * The settings of the site under the hit's epoch; null if no hook takes the hit. During a handover the newer link may
 * serve hooks that on_count() cannot. A hit that on_count() then still takes began before the switch, or found no
 * memory for a token, and is counted by the settings before the switch.
 */
static __always_inline struct tc_generation *generation_of(bpf_user_pt_regs_t *ctx, struct hit *hit,
							   const bool counts)
{
	struct tc_generation *generation;
	__u64 cookie, link, served_by;
	struct tc_slot *slot;
	__u32 attend_to;

	attend_to = *(volatile __u32 *)&attention;
	if (attend_to && !attend(attend_to, hit->epoch))
		return 0;
	if (!*(volatile __u32 *)&in_force[hit->epoch & 1])
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	hit->slot = cookie % TC_MAX_SLOTS;
	link = cookie >> TC_COOKIE_LINK_SHIFT;
	slot = slot_of(cookie);
	if (!slot)
		return 0;
	generation = &slot->generation[hit->epoch & 1];
	if (!generation->hook_count)
		return 0;
	served_by = *(volatile __u64 *)&generation->link;
	if (served_by != link && !takes_in_handover(served_by, link, hit->slot))
		return 0;
	if (counts && (__u32)served_by != link) {
		generation = &slot->generation[(hit->epoch & 1) ^ 1];
		if (!generation->hook_count)
			return 0;
	}
	hit->ctx = ctx;
	return generation;
}

#endif
