/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Writes records of hits into rings. */
#ifndef TRACECTL_STREAM_BPF_H
#define TRACECTL_STREAM_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/chunks.bpf.h"
#include "bpf/held.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/machine.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/marks.bpf.h"
#include "bpf/record.bpf.h"
#include "bpf/stack.bpf.h"
#include "bpf/streamed.bpf.h"

/* A few sizes, so that small records stay small. */
static __always_inline bool emit_args(const struct streamed *hit)
{
	if (hit->layout->arg_count == 0)
		return write_record(hit, 0, ARGS, 0);
	if (hit->layout->arg_count <= 3)
		return write_record(hit, 0, ARGS, 3);
	if (hit->layout->arg_count <= 6)
		return write_record(hit, 0, ARGS, 6);
	return write_record(hit, 0, ARGS, TC_MAX_ARGS);
}

static __always_inline bool emit_values(const struct streamed *hit)
{
	__u32 words = hit->spec->value_words;

	if (words <= 3)
		return write_record(hit, 0, SPEC_VALUES, 3);
	if (words <= TC_MAX_VALUES)
		return write_record(hit, 0, SPEC_VALUES, TC_MAX_VALUES);
	if (words <= 36)
		return write_record(hit, 0, SPEC_VALUES, 36);
	return write_record(hit, 0, SPEC_VALUES, TC_MAX_RECORD_WORDS);
}

static __always_inline bool emit_stack(const struct streamed *hit, const enum body body,
				       const __u32 room)
{
	if (hit->flags & TC_COPY_STACK)
		return write_with_stack(hit, 0, body, room, COPY_WORDS);
	if (hit->spec->stack_frames <= TC_FEW_FRAMES)
		return write_with_stack(hit, 0, body, room, WORDS_OF_FEW);
	return write_with_stack(hit, 0, body, room, WORDS_OF_MOST);
}

/* Next to a stack the room of arguments and values matters little. */
static __always_inline bool emit_with_stack(const struct streamed *hit)
{
	return hit->spec->value_count ? emit_stack(hit, SPEC_VALUES, TC_MAX_RECORD_WORDS)
				      : emit_stack(hit, ARGS, TC_MAX_ARGS);
}

/* Writes the beginning of a call, with its arguments if they are wanted. */
static __always_inline bool emit_call(const struct streamed *hit)
{
	const struct tc_spec *spec = hit->spec;

	if (!(hit->flags & TC_EVENT))
		return write_record(hit, CALL_WORDS, ARGS, 0);
	if (!spec || !spec->value_count)
		return write_record(hit, CALL_WORDS, ARGS, TC_MAX_ARGS);
	if (spec->value_words <= TC_MAX_VALUES)
		return write_record(hit, CALL_WORDS, SPEC_VALUES, TC_MAX_VALUES);
	return write_record(hit, CALL_WORDS, SPEC_VALUES, TC_MAX_RECORD_WORDS);
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

enum { MOST_HELD_WORDS = CALL_WORDS + TC_MAX_RECORD_WORDS };

/* The same for a part of a graph, which has no stack. */
static __always_inline void emit_held(const struct streamed *hit)
{
	__u32 head = hit->flags & TC_IN_GRAPH ? CALL_WORDS : 0;

	if (head && !(hit->flags & TC_EVENT))
		write_record(hit, head, ARGS, 0);
	else if (hit->spec && hit->spec->value_count)
		write_record(hit, head, SPEC_VALUES, TC_MAX_RECORD_WORDS);
	else
		write_record(hit, head, ARGS, TC_MAX_ARGS);
}

/* Fills the sources of a record, from the arguments of stream(). */
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
 * Streams a record of the hit. `to`: the hook's flags, words_below_caller, session and source; `call`: the
 * call of a graph that begins with the hit. False if the record is lost.
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

/* The same, for a part of a graph that waits for the end of the outermost call. */
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

/* Returns whether the record is in the ring. */
static __always_inline bool stream_hit(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
				       __u64 under, __u64 call)
{
	if (is_silent(hook->session)) {
		add_to_counter(hook, silenced, 1);
		return false;
	}
	if (stream(ctx, code_of(hook), destination_of(hook), under, call))
		return true;
	add_to_counter(hook, dropped_ring, 1);
	return false;
}

static __always_inline void hold_hit(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
				     __u64 under, __u64 call)
{
	if (is_silent(hook->session))
		add_to_counter(hook, silenced, 1);
	else
		hold(ctx, code_of(hook), destination_of(hook), under, call);
}

/* The record of a part of a graph may have to wait. Returns whether it is in the ring, or waits. */
static __always_inline bool show_hit(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
				     __u64 under)
{
	if (!(hook->flags & TC_WITHIN_GRAPH) || !is_waiting(hook->session))
		return stream_hit(ctx, hook, under, 0);
	hold_hit(ctx, hook, under, 0);
	return true;
}

#endif
