// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/* The programs that run when a probe is hit, and those that keep the sets of processes up to date. */
#include "bpf/abi.h"
#include "bpf/act.bpf.h"
#include "bpf/blocked.bpf.h"
#include "bpf/cgroups.bpf.h"
#include "bpf/gate.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/left.bpf.h"
#include "bpf/linkers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/match.bpf.h"
#include "bpf/members.bpf.h"
#include "bpf/own_frames.bpf.h"
#include "bpf/present.bpf.h"
#include "bpf/proofs.bpf.h"
#include "bpf/returns.bpf.h"
#include "bpf/syscalls.bpf.h"

static __always_inline long next_hook_round(struct hit *hit, const bool counts)
{
	const struct tc_hook *hook = take_next_hook(&hit->next);

	if (!hook)
		return LAST_ROUND;
	if (hit->taken && !(hook->flags & TC_FIRST_OF_GROUP))
		return NEXT_ROUND;
	hit->taken = takes(hook);
	if (hit->taken && counts)
		count_hit(hook);
	else if (hit->taken)
		act(hit, hook, false);
	return NEXT_ROUND;
}

static long act_round(__u32 round, struct hit *hit)
{
	return next_hook_round(hit, false);
}

static long count_round(__u32 round, struct hit *hit)
{
	return next_hook_round(hit, true);
}

/* `hit` has its epoch set. `counts`: hooks only count, as in on_count(). */
static __always_inline void run_hooks(bpf_user_pt_regs_t *ctx, struct hit *hit, const bool counts)
{
	struct tc_generation *generation = generation_of(ctx, hit, counts);

	if (!generation)
		return;
	hit->taken = takes(&generation->first);
	if (hit->taken && counts)
		count_hit(&generation->first);
	else if (hit->taken)
		act(hit, &generation->first, true);
	hit->next = generation->first.next;
	if (hit->next)
		bpf_loop(TC_MAX_HOOKS_OF_SLOT, counts ? count_round : act_round, hit, 0);
}

static __always_inline void run_site(bpf_user_pt_regs_t *ctx, const bool counts)
{
	struct hit hit;

	hit.epoch = load_epoch();
	run_hooks(ctx, &hit, counts);
}

SEC("uprobe")
int on_site(bpf_user_pt_regs_t *ctx)
{
	keep_frames_on_stack(ctx, &no_programs);
	run_site(ctx, false);
	return 0;
}

/* For slots whose hooks only count: the verifier checks it in a fraction of the time. */
SEC("uprobe")
int on_count(bpf_user_pt_regs_t *ctx)
{
	keep_frames_on_stack(ctx, &no_programs);
	run_site(ctx, true);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
