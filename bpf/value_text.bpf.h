/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Values that are strings. The machine computes their address first, and the string is read after that, so
 * the stack never holds both.
 */
#ifndef TRACECTL_VALUE_TEXT_BPF_H
#define TRACECTL_VALUE_TEXT_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/own_tags.bpf.h"
#include "bpf/text.bpf.h"

/* Whether the kind is one of those with a bit in the mask: one branch, where the verifier would follow several. */
static __always_inline bool is_one_of(const struct tc_value *value, __u64 kinds)
{
	return kinds >> (value->kind & 63) & 1;
}

static __always_inline bool is_text(const struct tc_value *value)
{
	return is_one_of(value, 1 << TC_VALUE_COMM | 1 << TC_VALUE_STR | 1 << TC_VALUE_TAG | 1 << TC_VALUE_BYTES);
}

/* Whether the string is in the program's memory. */
static __always_inline bool has_address(const struct tc_value *value)
{
	return is_one_of(value, 1 << TC_VALUE_STR | 1 << TC_VALUE_BYTES);
}

static __always_inline bool read_value_text(struct string *string, __u64 value, __u64 address,
					    __u32 session)
{
	struct tc_value what;

	__builtin_memcpy(&what, &value, sizeof(what));
	switch (what.kind) {
	case TC_VALUE_COMM:
		string_of_comm(string);
		return true;
	case TC_VALUE_TAG:
		return string_of_tag(string, session);
	case TC_VALUE_BYTES:
		return read_bytes(string, address, what.most_bytes);
	}
	return read_string(string, address, what.most_bytes);
}

static const __u64 unread_text = ~0ULL;

/* Like number_of_string(), for the value's string; unread_text if it cannot be read. */
__on_its_own __u64 number_of_text(__u64 value, __u64 address, __u32 session)
{
	struct string string = {};

	if (!read_value_text(&string, value, address, session))
		return unread_text;
	return number_of_string(&string, session);
}

struct text_words {
	__u64 word[TC_STR_LEN / 8];
};

/* False if the string cannot be read; the words are 0 then. */
__on_its_own bool copy_text(struct text_words *to, __u64 value, __u64 address, __u32 session)
{
	struct string string = {};
	bool well;

	if (!to)
		return false;
	well = read_value_text(&string, value, address, session);
	__builtin_memcpy(to, string.bytes, sizeof(*to));
	return well;
}

#endif
