/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Hits on their way into a ring. */
#ifndef TRACECTL_STREAM_BPF_H
#define TRACECTL_STREAM_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/graph.bpf.h"
#include "bpf/held.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/machine.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/marks.bpf.h"
#include "bpf/record.bpf.h"
#include "bpf/stack.bpf.h"
#include "bpf/streamed.bpf.h"
#include "bpf/values.bpf.h"

static __always_inline bool emit_sized(const struct streamed *hit, const __u32 room)
{
	struct tc_record *record = begin_record(hit, room);

	if (!record)
		return false;
	fill_args(record, hit->layout, hit->ctx, room, 0);
	submit(hit, record);
	return true;
}

/* A ring wants sizes known to the verifier: a few classes, so that small records stay small. */
static __always_inline bool emit_args(const struct streamed *hit)
{
	if (hit->layout->arg_count == 0)
		return emit_sized(hit, 0);
	if (hit->layout->arg_count <= 3)
		return emit_sized(hit, 3);
	if (hit->layout->arg_count <= 6)
		return emit_sized(hit, 6);
	return emit_sized(hit, TC_MAX_ARGS);
}

static __always_inline bool emit(const struct streamed *hit)
{
	const struct tc_spec *spec = hit->spec;

	if (hit->flags & TC_IN_GRAPH)
		return emit_call(hit);
	if (spec && spec->stack_frames)
		return emit_with_stack(hit);
	return spec && spec->value_count ? emit_values(hit) : emit_args(hit);
}

enum { MOST_HELD_WORDS = 1 + TC_MAX_RECORD_WORDS };

/* The same of a part of a graph, which has no stack; here sizes need not be known to the verifier. */
static __always_inline void emit_held(const struct streamed *hit)
{
	struct tc_record *record = begin_record(hit, MOST_HELD_WORDS);
	__u32 before = hit->flags & TC_IN_GRAPH ? 1 : 0;

	if (!record)
		return;
	if (before && !(hit->flags & TC_EVENT)) {
		fill_args(record, hit->layout, hit->ctx, 0, 0);
	} else if (hit->spec && hit->spec->value_count) {
		fill_values(hit, record, MOST_HELD_WORDS, before);
		record->arg_room = hit->spec->value_words;
	} else {
		fill_args(record, hit->layout, hit->ctx, TC_MAX_ARGS, before);
		record->arg_room = hit->layout->arg_count;
	}
	if (before)
		mark_call(record, hit);
	submit(hit, record);
}

/* What records are made of, by the arguments of stream(). */
static __always_inline void find_parts(struct streamed *hit, __u64 code, __u64 to)
{
	__u32 layout_index = code >> 32, spec_index = code;

	hit->flags = to >> 56;
	hit->words_below_caller = to >> 48;
	hit->layout = bpf_map_lookup_elem(&layouts, &layout_index);
	if (spec_index)
		hit->spec = bpf_map_lookup_elem(&specs, &spec_index);
}

/*
 * Streams a record of the hit; `to` is of the hook its flags, where the caller is, its session and
 * its source, `call` the call of a graph that begins by it. False where it is lost.
 */
__on_its_own bool stream(bpf_user_pt_regs_t *ctx, __u64 code, __u64 to, __u64 under, __u64 call)
{
	__u32 ring_index = (__u8)(to >> 32) * cpu_count + bpf_get_smp_processor_id();
	struct tc_ring_loss *loss = bpf_map_lookup_elem(&ring_losses, &ring_index);
	struct streamed hit = { .ctx = ctx, .epoch = under, .code = code, .source = to,
				.session = to >> 32, .call = call };

	find_parts(&hit, code, to);
	hit.ring = bpf_map_lookup_elem(&rings, &ring_index);
	hit.loss = loss;
	if (!hit.layout || !hit.ring || !loss)
		return false;
	if (emit(&hit))
		return true;
	__sync_fetch_and_add(&loss->dropped, 1);
	return false;
}

/* The same, of a part of a graph that waits for the end of the outermost call. */
__on_its_own int hold(bpf_user_pt_regs_t *ctx, __u64 code, __u64 to, __u64 under, __u64 call)
{
	struct streamed hit = { .ctx = ctx, .epoch = under, .code = code, .source = to,
				.session = to >> 32, .call = call };
	struct calls *calls = calls_of_thread(hit.session);

	find_parts(&hit, code, to);
	if (!hit.layout || !calls)
		return 0;
	hit.held = block_with_room(calls, sizeof(struct tc_record) + MOST_HELD_WORDS * 8);
	if (hit.held)
		emit_held(&hit);
	return 0;
}

static __always_inline __u64 destination_of(const struct tc_hook *hook)
{
	return (__u64)hook->flags << 56 | (__u64)hook->words_below_caller << 48 |
	       (__u64)hook->session << 32 | hook->source;
}

/* Whether it is in the ring. */
static __always_inline bool stream_hit(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
				       __u64 under, struct tc_stat *stat, __u64 call)
{
	if (is_silent(hook->session)) {
		__sync_fetch_and_add(&stat->silenced, 1);
		return false;
	}
	if (stream(ctx, code_of(hook), destination_of(hook), under, call))
		return true;
	__sync_fetch_and_add(&stat->dropped_ring, 1);
	return false;
}

static __always_inline void hold_hit(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
				     __u64 under, struct tc_stat *stat, __u64 call)
{
	if (is_silent(hook->session))
		__sync_fetch_and_add(&stat->silenced, 1);
	else
		hold(ctx, code_of(hook), destination_of(hook), under, call);
}

/* Where it is a part of a graph it may have to wait. Whether it is in the ring, or waits. */
static __always_inline bool show_hit(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
				     __u64 under, struct tc_stat *stat)
{
	if (!(hook->flags & TC_WITHIN_GRAPH) || !is_waiting(hook->session))
		return stream_hit(ctx, hook, under, stat, 0);
	hold_hit(ctx, hook, under, stat, 0);
	return true;
}

#endif
