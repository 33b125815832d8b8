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

/* Returns the number of words written; nothing is written beyond the room. `to`: the place of the first value. */
static __always_inline __u32 fill_value(const struct streamed *hit, const struct tc_value *value,
					__u64 *to, __u64 at, const __u32 room, bool *valid)
{
	__u64 number = 0, address = 0;

	if (!is_text(value)) {
		if (at > room - 1)
			return 0;
		*valid = evaluate(hit->ctx, hit->code, packed(value), &number, hit->ended);
		to[at] = *valid ? number : 0;
		return 1;
	}
	if (room < STR_WORDS || at > room - STR_WORDS)
		return 0;
	*valid = (!has_address(value) ||
		  evaluate(hit->ctx, hit->code, packed(value), &address, hit->ended)) &&
		 copy_text((struct text_words *)&to[at], packed(value), address, hit->session);
	return STR_WORDS;
}

/* `before`: words before the values; `room`: words for them. */
static __always_inline void fill_values(const struct streamed *hit, struct tc_record *record,
					const __u32 before, const __u32 room)
{
	const struct tc_spec *spec = hit->spec;
	__u64 *to = record->args + before;
	__u64 i = unknown_zero, at = unknown_zero;
	__u32 valid = unknown_zero;
	struct bpf_iter_num values;

	__builtin_memset(to, 0, room * 8);
	bpf_iter_num_new(&values, 0, TC_MAX_VALUES);
	while (bpf_iter_num_next(&values)) {
		bool well = false;

		checked_as_used(i);
		checked_as_used(at);
		if (i >= spec->value_count || i >= TC_MAX_VALUES)
			break;
		at = (at + fill_value(hit, &spec->values[i], to, at, room, &well)) & 127;
		valid |= (__u32)well << i;
		i = next_place(i);
	}
	bpf_iter_num_destroy(&values);
	record->arg_valid = valid;
	record->arg_count = i;
	record->arg_room = room;
}

#endif
