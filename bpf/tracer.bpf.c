// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/* The programs that run when a probe is hit, and those that keep the sets of processes up to date. */
#include "bpf/abi.h"
#include "bpf/act.bpf.h"
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

/* `hit` has its epoch set. `counts`: hooks only count, as in on_count(). */
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

/* For slots whose hooks only count: the verifier checks it in a fraction of the time. */
SEC("uprobe")
int on_count(struct pt_regs *ctx)
{
	keep_frames_on_stack(ctx, &no_programs);
	run_site(ctx, true);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
