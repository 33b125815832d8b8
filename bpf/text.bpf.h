/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Strings of the traced program: read, compared, and numbered for keys. */
#ifndef TRACECTL_TEXT_BPF_H
#define TRACECTL_TEXT_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/shares.bpf.h"

/* The bytes after its length are 0. */
struct string {
	__u32 length;
	union {
		struct {
			__u32 pad;
			char bytes[TC_STR_LEN];
		};
		struct text_key key;	/* once the session is set */
	};
};

static __always_inline void clear_string(struct string *string)
{
	__builtin_memset(string, 0, sizeof(*string));
}

/* Up to `most` bytes of the string at an address of the program. */
__on_its_own bool read_string(struct string *string, __u64 address, __u8 most)
{
	char last[2] = {};
	long length;

	if (!string)
		return false;
	clear_string(string);
	if (most > TC_STR_LEN)
		return false;
	/* The helper ends the string with a 0 within `most` bytes, so the last byte is read separately. */
	length = bpf_probe_read_user_str(string->bytes, most, (const void *)address);
	if (length < 1)
		return false;
	string->length = length - 1;
	if (length == most && !bpf_probe_read_user(last, 1, (const void *)(address + most - 1)) &&
	    last[0] && length <= TC_STR_LEN) {
		string->bytes[(length - 1) & (TC_STR_LEN - 1)] = last[0];
		string->length = length;
	}
	return true;
}

/* `count` bytes at an address of the program, which may be 0; all or none. */
__on_its_own bool read_bytes(struct string *string, __u64 address, __u8 count)
{
	if (!string)
		return false;
	clear_string(string);
	if (count > TC_STR_LEN)
		return false;
	string->length = count;
	return !bpf_probe_read_user(string->bytes, count, (const void *)address);
}

static __always_inline void string_of_comm(struct string *string)
{
	__u32 i;

	clear_string(string);
	bpf_get_current_comm(string->bytes, TC_COMM_LEN);
	for (i = 0; i < TC_COMM_LEN && string->bytes[i]; i++)
		string->length = i + 1;
}

__on_its_own bool equals(const struct string *string, const struct tc_text *text)
{
	__u32 i;

	if (!string || !text)
		return false;
	if (string->length != text->length)
		return false;
	for (i = 0; i < TC_TEXT_LEN; i++) {
		if (i >= string->length)
			return true;
		if (string->bytes[i] != text->bytes[i])
			return false;
	}
	return true;
}

_Static_assert(sizeof(struct tc_text) == TC_TEXT_LEN + 1 &&
		       __builtin_offsetof(struct tc_text, bytes) == 1,
	       "a text is its length and its bytes, 64 together");

/*
 * Comparisons of small numbers without a branch: 1 if true, else 0. The verifier would follow each branch in every
 * step of a loop.
 */
static __always_inline __u64 is_less(__u64 a, __u64 b)
{
	__u64 difference = a - b;

	checked_as_used(difference);	/* or the compiler would make it a branch */
	return difference >> 63;
}

enum { PATTERN_PLACES = 2 * (TC_TEXT_LEN + 1) };	/* with places after its end */

/* 0 after its end; no text contains a 0. */
static __always_inline __u8 byte_of(const struct tc_text *text, __u64 at)
{
	__u64 place = (at + 1) & TC_TEXT_LEN;

	checked_as_used(place);
	return ((const __u8 *)text)[place] & -is_less(at, TC_TEXT_LEN);
}

static __always_inline __u64 is_equal(__u64 a, __u64 b)
{
	return is_less(a ^ b, 1);
}

/*
 * Matches the class, `[...]`, that begins at `start`: returns the place in the pattern after it if the byte
 * is in the class, or 0. Without a closing bracket it is an ordinary bracket.
 */
__on_its_own __u32 match_class(const struct tc_text *pattern, __u32 start, __u8 byte)
{
	__u64 found = unknown_zero, closed = unknown_zero, inverted, begin, at;
	struct bpf_iter_num steps;

	if (!pattern)
		return 0;
	at = (start + 1) & (PATTERN_PLACES - 1);
	inverted = is_equal(byte_of(pattern, at), '!') | is_equal(byte_of(pattern, at), '^');
	at += inverted;
	begin = at;
	bpf_iter_num_new(&steps, 0, TC_TEXT_LEN);
	while (bpf_iter_num_next(&steps)) {
		__u64 low = byte_of(pattern, at), last = byte_of(pattern, at + 2), high, is_range;

		closed = is_equal(low, ']') & ~is_equal(at, begin);
		if (is_equal(low, 0) | closed)
			break;
		is_range = is_equal(byte_of(pattern, at + 1), '-') & ~is_equal(last, 0) &
			   ~is_equal(last, ']');
		high = low + (last - low) * is_range;
		found |= 1 ^ (is_less(byte, low) | is_less(high, byte));
		at += 1 + 2 * is_range;
		checked_as_used(at);
		at &= PATTERN_PLACES - 1;
	}
	bpf_iter_num_destroy(&steps);
	if (!closed)
		return byte == '[' ? begin - inverted : 0;
	return found != inverted ? at + 1 : 0;
}

/* The place in the pattern after the part that matches this byte, or 0. */
static __always_inline __u32 match_byte(const struct tc_text *pattern, __u32 at, __u8 byte)
{
	__u8 wanted = byte_of(pattern, at);

	if (wanted == '[')
		return match_class(pattern, at, byte);
	return wanted && (wanted == '?' || wanted == byte) ? at + 1 : 0;
}

/* `*`, `?` and `[...]`, as in daemon/model/glob. */
struct glob {
	const struct string *string;
	const struct tc_text *pattern;
	__u32 at, in_pattern;
	__u32 star_at, star_in_pattern;	/* the places after the last star's match; in_pattern 0: none yet */
};

enum match { GOES_ON, MATCHES, DIFFERS };

/* If the part after the last star does not match, the star takes one byte more. */
static __always_inline enum match glob_step(struct glob *glob)
{
	__u32 behind;

	if (byte_of(glob->pattern, glob->in_pattern) == '*') {
		glob->in_pattern++;
		glob->star_in_pattern = glob->in_pattern;
		glob->star_at = glob->at;
		return GOES_ON;
	}
	if (glob->at >= glob->string->length)
		return glob->in_pattern >= glob->pattern->length ? MATCHES : DIFFERS;
	behind = match_byte(glob->pattern, glob->in_pattern,
			    glob->string->bytes[glob->at & (TC_STR_LEN - 1)]);
	if (behind) {
		glob->in_pattern = behind;
		glob->at++;
		return GOES_ON;
	}
	if (!glob->star_in_pattern)
		return DIFFERS;
	glob->star_at++;
	glob->at = glob->star_at;
	glob->in_pattern = glob->star_in_pattern;
	return GOES_ON;
}

static __always_inline bool matches_glob(const struct string *string, const struct tc_text *pattern)
{
	struct glob glob = { .string = string,
			     .pattern = pattern,
			     .at = unknown_zero,
			     .in_pattern = unknown_zero,
			     .star_at = unknown_zero,
			     .star_in_pattern = unknown_zero };
	enum match match = GOES_ON;
	struct bpf_iter_num steps;

	if (!string || !pattern)
		return false;
	bpf_iter_num_new(&steps, 0, (TC_STR_LEN + 1) * (TC_TEXT_LEN + 1));
	while (bpf_iter_num_next(&steps)) {
		match = glob_step(&glob);
		if (match != GOES_ON)
			break;
	}
	bpf_iter_num_destroy(&steps);
	return match == MATCHES;
}

static __always_inline bool text_holds(__u8 op, const struct string *string,
				       const struct tc_text *text)
{
	bool is_same = op == TC_OP_SKIP_UNLESS_TEXT_EQ || op == TC_OP_SKIP_UNLESS_TEXT_NE;
	bool holds = is_same ? equals(string, text) : matches_glob(string, text);

	return holds != (op == TC_OP_SKIP_UNLESS_TEXT_NE || op == TC_OP_SKIP_UNLESS_TEXT_UNLIKE);
}

static __always_inline void add_text(const struct text_key *key)
{
	__u32 number;

	if (!take_room_for(key->session, TC_TABLE_TEXTS))
		return;
	number = __sync_fetch_and_add(&last_text, 1) + 1;
	/* If another program is first the entry is there too. */
	if (bpf_map_update_elem(&texts, key, &number, BPF_NOEXIST))
		give_room_of(key->session, TC_TABLE_TEXTS);
}

/* The string's number in the session, the same for equal strings; 0 if there is no room for a new one. */
static __always_inline __u32 number_of_string(struct string *string, __u32 session)
{
	__u32 *known;

	string->key.session = session;
	known = bpf_map_lookup_elem(&texts, &string->key);
	if (!known) {
		add_text(&string->key);
		known = bpf_map_lookup_elem(&texts, &string->key);
	}
	return known ? *known : 0;
}

#endif
