/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* A hook's actions when a call that it follows ends, and the record of the end. */
#ifndef TRACECTL_ENDS_BPF_H
#define TRACECTL_ENDS_BPF_H

#include "bpf/abi.h"
#include "bpf/access.bpf.h"
#include "bpf/calls.bpf.h"
#include "bpf/chunks.bpf.h"
#include "bpf/held.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/hook.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/machine.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/marks.bpf.h"
#include "bpf/record.bpf.h"
#include "bpf/stream.bpf.h"
#include "bpf/streamed.bpf.h"

static __always_inline bool emit_end(struct streamed *end)
{
	if (!(end->spec->at_return & TC_EVENT_AT_RETURN))
		return end->spec->at_return & TC_SPLIT ? write_record(end, SPLIT_END_WORDS, KEPT_ARGS, 0)
						       : write_record(end, END_WORDS, KEPT_ARGS, 0);
	if (!end->spec->value_count)
		return write_record(end, END_WORDS, KEPT_ARGS, TC_CALL_ARGS);
	if (end->spec->value_words <= TC_MAX_VALUES)
		return write_record(end, END_WORDS, SPEC_VALUES, TC_MAX_VALUES);
	return write_record(end, END_WORDS, SPEC_VALUES, TC_MAX_RECORD_WORDS);
}

/* Streams a record of the end of a call, as stream() does of a hit. */
__on_its_own bool stream_end(bpf_user_pt_regs_t *ctx, __u64 code, __u64 to, __u64 under,
			     const struct ended *ended)
{
	__u32 ring_index = (__u8)(to >> 32) * cpu_count + bpf_get_smp_processor_id();
	__u32 layout_index = code >> 32, spec_index = code;
	struct tc_ring_loss *loss = bpf_map_lookup_elem(&ring_losses, &ring_index);
	struct streamed end = { .ctx = ctx,
				.epoch = under,
				.code = code,
				.source = to,
				.session = to >> 32,
				.flags = to >> 56,
				.loss = loss,
				.ended = ended };

	end.layout = bpf_map_lookup_elem(&layouts, &layout_index);
	end.spec = bpf_map_lookup_elem(&specs, &spec_index);
	end.ring = bpf_map_lookup_elem(&rings, &ring_index);
	if (!ended || !end.layout || !end.spec || !end.ring || !loss)
		return false;
	if (emit_end(&end))
		return true;
	__sync_fetch_and_add(&loss->dropped, 1);
	return false;
}

/* Streams a record of an end without values, where the registers of the hit are not known. */
static __always_inline bool stream_plain_end(const struct tc_hook *hook, __u64 under,
					const struct ended *ended)
{
	__u32 ring_index = hook->session * cpu_count + bpf_get_smp_processor_id();
	struct tc_ring_loss *loss = bpf_map_lookup_elem(&ring_losses, &ring_index);
	struct streamed end = { .epoch = under, .source = hook->source,
				.session = hook->session, .flags = hook->flags, .loss = loss,
				.ended = ended };

	end.ring = bpf_map_lookup_elem(&rings, &ring_index);
	if (!end.ring || !loss)
		return false;
	if (write_record(&end, END_WORDS, KEPT_ARGS, 0))
		return true;
	__sync_fetch_and_add(&loss->dropped, 1);
	return false;
}

/* Whether the call is a part of a graph whose records wait for the end of the outermost call. */
static __always_inline bool is_held(const struct calls *calls, const struct ended *ended)
{
	return calls && calls->held_call && ended->call;
}

/* Holds back the record of the end of such a call. */
__on_its_own int hold_end(const struct tc_hook *hook, struct calls *calls, __u64 under,
			  const struct ended *ended)
{
	struct streamed end = { .epoch = under, .ended = ended };
	__u32 index = hook ? hook->spec : 0;
	const struct tc_spec *spec = bpf_map_lookup_elem(&specs, &index);

	if (!hook || !calls || !ended || !spec)
		return 0;
	end.source = hook->source;
	end.session = hook->session;
	end.held = block_with_room(calls, sizeof(struct tc_record) + SPLIT_END_WORDS * 8);
	if (!end.held)
		return 0;
	if (spec->at_return & TC_SPLIT)
		write_record(&end, SPLIT_END_WORDS, KEPT_ARGS, 0);
	else
		write_record(&end, END_WORDS, KEPT_ARGS, 0);
	return 0;
}

/* The end of the outermost call decides on all records that wait for it. */
__on_its_own int settle(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook, struct calls *calls,
			__u64 under, const struct ended *ended)
{
	__u32 index = hook ? hook->spec : 0;
	const struct tc_spec *spec = bpf_map_lookup_elem(&specs, &index);
	__u64 keeps = 0;

	if (!hook || !calls || !ended || !spec)
		return 0;
	calls->held_call = 0;
	if (!evaluate(ctx, code_of(hook), packed(&spec->keep_if), &keeps, ended))
		keeps = 0;
	if (keeps)
		add_to_counter(hook, dropped_ring, give_held(calls, under));
	else
		add_to_counter(hook, filtered, 1);
	return 0;
}

__on_its_own int act_on_end(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
			    struct calls *calls, __u64 under, const struct ended *ended)
{
	__u32 index = hook ? hook->spec : 0;
	const struct tc_spec *spec = bpf_map_lookup_elem(&specs, &index);

	if (!hook || !ended || !spec || is_shut(hook) || is_hidden(hook))
		return 0;
	if (spec->at_return & TC_CONDITION_AT_RETURN) {
		if (!meets_condition(ctx, hook, spec, ended) || !lets_pass(hook, spec)) {
			add_to_counter(hook, filtered, 1);
			return 0;
		}
		take_effect_before(spec);
	}
	aggregate(ctx, hook, spec->aggregate_count, ended);
	if (spec->at_return & (TC_EVENT_AT_RETURN | TC_RETURN_EVENT)) {
		if (is_silent(hook->session))
			add_to_counter(hook, silenced, 1);
		else if (is_held(calls, ended))
			hold_end(hook, calls, under, ended);
		else if (!stream_end(ctx, code_of(hook), destination_of(hook), under, ended))
			add_to_counter(hook, dropped_ring, 1);
	}
	/* The call for which records wait has none around it. */
	if (is_held(calls, ended) && ended->call == calls->held_call)
		settle(ctx, hook, calls, under, ended);
	if (spec->at_return & TC_CONDITION_AT_RETURN)
		take_effect_behind(spec);
	return 0;
}

#endif
