/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * A hook's actions on a hit. Programs can be preempted and two can interleave on one CPU, so
 * everything is counted with atomic adds, and a record is built in its reserved memory.
 */
#ifndef TRACECTL_ACT_BPF_H
#define TRACECTL_ACT_BPF_H

#include "bpf/abi.h"
#include "bpf/aggregate.bpf.h"
#include "bpf/calls.bpf.h"
#include "bpf/chunks.bpf.h"
#include "bpf/deepest.bpf.h"
#include "bpf/delay.bpf.h"
#include "bpf/desk.bpf.h"
#include "bpf/ends.bpf.h"
#include "bpf/graph.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/hook.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/machine.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/marks.bpf.h"
#include "bpf/match.bpf.h"
#include "bpf/own_tags.bpf.h"
#include "bpf/pairs.bpf.h"
#include "bpf/stream.bpf.h"
#include "bpf/terms.bpf.h"

/* Counts a call whose end will not be observed. */
static __noinline void count_cut(__u32 stat)
{
	struct tc_key key = { .stat = stat, .aggregate = TC_NO_AGGREGATE, .missing = TC_CALL_CUT };

	count_key(&key);
}

static __always_inline bool is_taken(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
				     const struct tc_spec *spec, __u32 answer)
{
	if (answer != YES && !meets_condition(ctx, hook, spec, 0))
		return false;
	if (spec->effects & TC_DEEPEST && !is_deepest(ctx, hook->session))
		return false;
	return lets_pass(hook, spec);
}

/* The effect TC_LEARN_TAG. */
static __always_inline void learn_tag_of(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook)
{
	const struct tc_value second = { .kind = TC_VALUE_OPERAND, .from = TC_FROM_ARG, .a = 1 };
	__u64 address = 0;

	if (evaluate(ctx, code_of(hook), packed(&second), &address, 0))
		learn_tag(hook->session, address);
}

enum { CUTS_CALLS = 1 << 8 };	/* the program follows none */

/*
 * Acts on a hit by the spec of its hook. `known`: the condition's result if it is known (enum answer), and
 * CUTS_CALLS. Returns whether the hook takes the hit, and so a call that begins by it.
 */
__on_its_own bool act_by_spec(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook, __u64 under,
			      __u32 known)
{
	__u32 index = hook ? hook->spec : 0;
	const struct tc_spec *spec = bpf_map_lookup_elem(&specs, &index);
	bool at_return, is_seen = true;

	if (!hook || !spec)
		return false;
	at_return = spec->at_return & TC_CONDITION_AT_RETURN;
	if (!at_return && !is_taken(ctx, hook, spec, (__u8)known)) {
		add_to_counter(hook, filtered, 1);
		return false;
	}
	if (!at_return)
		take_effect_before(spec);
	aggregate(ctx, hook, spec->aggregate_count, 0);
	if (hook->flags & TC_EVENT && !(spec->at_return & TC_EVENT_AT_RETURN))
		is_seen = show_hit(ctx, hook, under);
	if (spec->effects & TC_DEEPEST && is_seen)
		keep_deepest(ctx, hook->session);
	if (known & CUTS_CALLS && hook->flags & TC_CALL)
		count_cut(hook->stat);
	if (!at_return)
		take_effect_behind(spec);
	if (spec->effects & TC_LEARN_TAG)
		learn_tag_of(ctx, hook);
	return true;
}

/* Whether the hook only counts the hits that meet the condition. */
static __always_inline bool only_counts(const struct tc_hook *hook, const struct tc_spec *spec)
{
	return !(hook->flags & (TC_EVENT | TC_CALL) || spec->aggregate_count || spec->sample ||
		 spec->limit || spec->effects || spec->trigger_count);
}

/* Most hits end here, without having called a function. */
static __always_inline void act_at_once(struct hit *hit, const struct tc_hook *hook)
{
	__u32 index = hook->spec;
	const struct tc_spec *spec = bpf_map_lookup_elem(&specs, &index);
	enum answer answer = ASK_THE_MACHINE;
	struct tc_stat *stat;

	if (!spec)
		return;
	if (spec->condition_kind == TC_TERMS)
		answer = ask_terms(hit, hook, spec);
	if (answer == NO) {
		stat = stat_of(hook->stat);
		if (stat)
			__sync_fetch_and_add(&stat->filtered, 1);
	} else if (answer != YES || !only_counts(hook, spec))
		act_by_spec(hit->ctx, hook, hit->epoch, answer | CUTS_CALLS);
}

static __always_inline void act_on_pair(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
					__u64 under)
{
	struct desk *desk;

	if (!meet_other_side(ctx, hook))
		return;
	desk = desk_of_thread();
	if (desk)
		act_on_end(ctx, hook, 0, under, &desk->matched);
}

static __always_inline bool begins_to_act(const struct tc_hook *hook)
{
	struct tc_stat *stat = stat_of(hook->stat);

	if (!stat || is_shut(hook))
		return false;
	test_delay();
	__sync_fetch_and_add(&stat->hits, 1);
	return true;
}

/* For a hook that does nothing else. */
static __always_inline void count_hit(const struct tc_hook *hook)
{
	begins_to_act(hook);
}

static __noinline bool is_outside_its_graph(const struct tc_hook *hook)
{
	return is_outside_graph(hook, calls_of_thread(hook->session));
}

/* Whether the hook takes only calls within a graph, and this is none; counts it as filtered then. */
static __always_inline bool is_left_out(const struct tc_hook *hook)
{
	if (!(hook->flags & TC_WITHIN_GRAPH) || !is_outside_its_graph(hook))
		return false;
	add_to_counter(hook, filtered, 1);
	return true;
}

/* `at_once`: with few function calls, for the place where most hits end, but with more stack. */
static __always_inline void act(struct hit *hit, const struct tc_hook *hook, const bool at_once)
{
	if (!begins_to_act(hook) || is_left_out(hook))
		return;
	if (hook->flags & TC_PAIR)
		act_on_pair(hit->ctx, hook, hit->epoch);
	else if (hook->spec && at_once)
		act_at_once(hit, hook);
	else if (hook->spec)
		act_by_spec(hit->ctx, hook, hit->epoch, ASK_THE_MACHINE | CUTS_CALLS);
	else if (hook->flags & TC_EVENT)
		show_hit(hit->ctx, hook, hit->epoch);
}

#endif
