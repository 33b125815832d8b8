/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Strings of the traced program: read, compared, and numbered for keys. */
#ifndef TRACECTL_TEXT_BPF_H
#define TRACECTL_TEXT_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/shares.bpf.h"

/* What is behind its length is 0. */
struct string {
	__u32 length;
	union {
		struct {
			__u32 pad;
			char bytes[TC_STR_LEN];
		};
		struct text_key key;	/* once it has its session */
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
	/* The helper ends what it reads with a 0, so that the last byte is read by itself. */
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

/* As many bytes at an address of the program, bytes 0 among them; all or none. */
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
 * Comparisons of small numbers without a branch: 1 if it is so, else 0. The verifier would follow each branch in
 * every step of a loop.
 */
static __always_inline __u64 is_less(__u64 a, __u64 b)
{
	__u64 difference = a - b;

	checked_as_used(difference);	/* or the compiler would make it a branch */
	return difference >> 63;
}

enum { PATTERN_PLACES = 2 * (TC_TEXT_LEN + 1) };	/* those behind its end included */

/* 0 behind its end; no text has a 0 within. */
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
 * The class, `[...]`, that begins at a place of the pattern: where the pattern goes on behind it if
 * the byte is of it, or 0. One that is not closed is a bracket.
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

/* Where the pattern goes on behind what takes this byte, or 0. */
static __always_inline __u32 match_byte(const struct tc_text *pattern, __u32 at, __u8 byte)
{
	__u8 wanted = byte_of(pattern, at);

	if (wanted == '[')
		return match_class(pattern, at, byte);
	return wanted && (wanted == '?' || wanted == byte) ? at + 1 : 0;
}

/* `*`, `?` and `[...]`, as daemon/model/glob has them. */
struct glob {
	const struct string *string;
	const struct tc_text *pattern;
	__u32 at, in_pattern;
	__u32 star_at, star_in_pattern;	/* where the last star goes on; in_pattern 0: none yet */
};

enum match { GOES_ON, MATCHES, DIFFERS };

/* The last star takes one byte more whenever what follows it does not match. */
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
	/* Somebody else may be first: then the entry is there all the same. */
	if (bpf_map_update_elem(&texts, key, &number, BPF_NOEXIST))
		give_room_of(key->session, TC_TABLE_TEXTS);
}

/* Its number in the session, the same for equal strings; 0 where there is no room for a new one. */
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
