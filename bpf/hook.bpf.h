/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The conditions and counters of a hook, at a hit and at the end of a call. */
#ifndef TRACECTL_HOOK_BPF_H
#define TRACECTL_HOOK_BPF_H

#include "bpf/abi.h"
#include "bpf/aggregate.bpf.h"
#include "bpf/calls.bpf.h"
#include "bpf/chunks.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/machine.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/quota.bpf.h"

static __noinline bool within_rate(const struct tc_spec *spec, __u32 stat)
{
	struct tc_rate *rate = bpf_map_lookup_elem(&rates, &stat);

	if (!rate)
		return false;
	if (spec->sample && __sync_fetch_and_add(&rate->matched, 1) % spec->sample)
		return false;
	return !spec->limit || take_within(&rate->in_second, spec->limit, 1);
}

/* A condition that cannot be evaluated does not hold. */
static __always_inline bool meets_condition(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
					    const struct tc_spec *spec, const struct ended *ended)
{
	__u64 holds = 0;

	return spec->condition_kind == TC_NO_CONDITION ||
	       (evaluate(ctx, code_of(hook), packed(&spec->condition), &holds, ended) && holds);
}

/* Whether a hit that meets the condition is taken. */
static __always_inline bool lets_pass(const struct tc_hook *hook, const struct tc_spec *spec)
{
	return !(spec->sample || spec->limit) || within_rate(spec, hook->stat);
}

static __always_inline void aggregate(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
				      __u32 count, const struct ended *ended)
{
	__u32 i;

	for (i = 0; i < TC_MAX_AGGREGATES; i++) {
		if (i >= count)
			return;
		if (!add_to_aggregate(ctx, code_of(hook), hook->stat,
				      packed_which(i, hook->words_below_caller), ended))
			add_to_counter(hook, dropped_keys, 1);
	}
}

#endif
