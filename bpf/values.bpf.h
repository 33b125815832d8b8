/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The values of a spec, which a record has instead of the probe's arguments: event(E, ...). */
#ifndef TRACECTL_VALUES_BPF_H
#define TRACECTL_VALUES_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/machine.bpf.h"
#include "bpf/streamed.bpf.h"
#include "bpf/value_text.bpf.h"

enum { STR_WORDS = TC_STR_LEN / 8 };

/*
 * Fills the value with this number. Until all are filled arg_room has the number of words so far: of what is in the
 * record the verifier does not follow each value. Nothing is written beyond the room.
 */
static __always_inline void fill_value(const struct streamed *hit, struct tc_record *record, __u64 *to,
				       __u32 number, const __u32 room)
{
	const struct tc_value *value = &hit->spec->values[number];
	const bool has_texts = room >= STR_WORDS;
	__u64 at = record->arg_room;
	__u64 valid = unknown_zero ^ 1;

	checked_as_used(at);
	if (!is_text(value)) {
		if (at > room - 1)
			return;
		valid = evaluate(hit->ctx, hit->code, packed(value), &to[at], hit->ended);
		to[at] = only_if(valid, to[at]);
		record->arg_room++;
	} else {
		if (!has_texts || at > room - STR_WORDS)
			return;
		if (has_address(value))
			valid = evaluate(hit->ctx, hit->code, packed(value), &to[at], hit->ended);
		/* If the address could not be computed, the value is a string of at most 0 bytes, which fails. */
		valid = copy_text((struct text_words *)&to[at], only_if(valid, packed(value)), to[at],
				  hit->session);
		record->arg_room += STR_WORDS;
	}
	record->arg_valid |= valid << number;
}

/* `before`: words before the values; `room`: words for them. */
static __always_inline void fill_values(const struct streamed *hit, struct tc_record *record,
					const __u32 before, const __u32 room)
{
	const __u32 most = room < TC_MAX_VALUES ? room : TC_MAX_VALUES;
	__u64 *to = record->args + before;
	__u32 i;

	__builtin_memset(to, 0, room * 8);
	record->arg_valid = 0;
	record->arg_room = 0;
#pragma clang loop unroll(full)	/* in a loop the verifier compares fewer states, and so checks more */
	for (i = 0; i < most && i < hit->spec->value_count; i++)
		fill_value(hit, record, to, i, room);
	record->arg_count = i;
	record->arg_room = room;
}

#endif
