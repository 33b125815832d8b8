/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Records with values of their own instead of the probe's arguments: event(E, ...). */
#ifndef TRACECTL_VALUES_BPF_H
#define TRACECTL_VALUES_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/machine.bpf.h"
#include "bpf/record.bpf.h"
#include "bpf/streamed.bpf.h"
#include "bpf/value_text.bpf.h"

enum { STR_WORDS = TC_STR_LEN / 8 };

/* Words that a value has taken; nothing behind the record's room is touched. */
static __always_inline __u32 fill_value(const struct streamed *hit, const struct tc_value *value,
					struct tc_record *record, __u64 at, const __u32 room,
					bool *valid)
{
	__u64 number = 0, address = 0;

	if (!is_text(value)) {
		if (at > room - 1)
			return 0;
		*valid = evaluate(hit->ctx, hit->code, packed(value), &number, hit->ended);
		record->args[at] = *valid ? number : 0;
		return 1;
	}
	if (room < STR_WORDS || at > room - STR_WORDS)
		return 0;
	*valid = (!has_address(value) ||
		  evaluate(hit->ctx, hit->code, packed(value), &address, hit->ended)) &&
		 copy_text((struct text_words *)&record->args[at], packed(value), address,
			   hit->session);
	return STR_WORDS;
}

/* `before`: words that are not for values. */
static __always_inline void fill_values(const struct streamed *hit, struct tc_record *record,
					const __u32 room, const __u32 before)
{
	const struct tc_spec *spec = hit->spec;
	__u64 i = unknown_zero, at = unknown_zero + before;
	__u32 valid = unknown_zero;
	struct bpf_iter_num values;

	__builtin_memset(record->args, 0, room * 8);
	bpf_iter_num_new(&values, 0, TC_MAX_VALUES);
	while (bpf_iter_num_next(&values)) {
		bool well = false;

		checked_as_used(i);
		checked_as_used(at);
		if (i >= spec->value_count || i >= TC_MAX_VALUES)
			break;
		at = (at + fill_value(hit, &spec->values[i], record, at, room, &well)) & 127;
		valid |= (__u32)well << i;
		i = next_place(i);
	}
	bpf_iter_num_destroy(&values);
	record->arg_valid = valid;
	record->arg_count = i;
	record->arg_room = room - before;
}

static __always_inline bool emit_values_sized(const struct streamed *hit, const __u32 room)
{
	struct tc_record *record = begin_record(hit, room);

	if (!record)
		return false;
	fill_values(hit, record, room, 0);
	submit(hit, record);
	return true;
}

/* A ring wants sizes known to the verifier. */
static __always_inline bool emit_values(const struct streamed *hit)
{
	__u32 words = hit->spec->value_words;

	if (words <= 3)
		return emit_values_sized(hit, 3);
	if (words <= TC_MAX_VALUES)
		return emit_values_sized(hit, TC_MAX_VALUES);
	if (words <= 36)
		return emit_values_sized(hit, 36);
	return emit_values_sized(hit, TC_MAX_RECORD_WORDS);
}

#endif
