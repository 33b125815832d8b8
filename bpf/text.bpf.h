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

/* The address of a string, without the length that TC_STR_SIZED says is in it. */
static __always_inline __u64 address_of_string(__u64 address, __u8 most)
{
	__u64 is_sized = most / TC_STR_SIZED;

	return address & ~(-is_sized << TC_ADDRESS_BITS);
}

/* The bytes of a string that are read at most. */
static __always_inline __u8 bytes_of_string(__u64 address, __u8 most)
{
	__u64 length = address >> TC_ADDRESS_BITS;

	if (!(most & TC_STR_SIZED))
		return most;
	most -= TC_STR_SIZED;
	return length < most ? length : most;
}

/* Up to `most` bytes of the string at an address of the program; see TC_STR_SIZED. */
__on_its_own bool read_string(struct string *string, __u64 address, __u8 most)
{
	char last[2] = {};
	long length;

	if (!string)
		return false;
	clear_string(string);
	length = bytes_of_string(address, most);
	if (!length)
		return most;	/* at most 0 bytes: its address could not be computed */
	address = address_of_string(address, most);
	most = length;
	if (most > TC_STR_LEN)
		return false;
	/* The helper ends the string with a 0 within `most` bytes, so the last byte is read separately. */
	length = bpf_probe_read_user_str(string->bytes, most, (const void *)address);
	if (length < 0)
		return false;
	/* Older kernels return 0 for an empty string (mm/maccess.c, strncpy_from_user_nofault). */
	string->length = length - is_less(0, length);
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
 * A match of `*`, `?` and `[...]`, as in daemon/model/glob. `at` are places in the string, the others in the pattern.
 * It lies in a map: of what is on the stack the verifier would follow each combination.
 */
struct glob_state {
	__u8 at, in_pattern;
	__u8 star_at, star_in_pattern;	/* behind the last star's match; star_in_pattern 0: none yet */
	__u8 in_class;			/* the next element of the class that begins at in_pattern; 0: in none */
	__u8 first_in_class;
	__u8 inverted, found;		/* the class is `[!...]`; one of its elements so far is the byte */
	__u8 ordinary_from;		/* brackets from here on are ordinary: none closes them */
	__u8 match;			/* enum match */
};

/* A string that is compared, and what that needs. */
struct compared {
	struct string string;
	struct glob_state glob;
};

struct glob {
	struct compared *compared;
	const struct tc_text *pattern;
};

enum match { GOES_ON, MATCHES, DIFFERS };

/*
 * After a part of the pattern: `behind` is the place after it if it matches, else 0. If the part after the last
 * star does not match, the star takes one byte more.
 */
static __always_inline enum match end_part(struct glob_state *state, __u64 behind)
{
	if (behind) {
		state->in_pattern = behind;
		state->at++;
		return GOES_ON;
	}
	if (!state->star_in_pattern)
		return DIFFERS;
	state->star_at++;
	state->at = state->star_at;
	state->in_pattern = state->star_in_pattern;
	return GOES_ON;
}

static __always_inline enum match begin_class(struct glob_state *state, const struct tc_text *pattern)
{
	__u64 first = state->in_pattern + 1;

	state->inverted = is_equal(byte_of(pattern, first), '!') | is_equal(byte_of(pattern, first), '^');
	state->first_in_class = first + state->inverted;
	state->in_class = state->first_in_class;
	state->found = 0;
	return GOES_ON;
}

/* Without a closing bracket it is an ordinary bracket, and so are those after it. */
static __always_inline enum match end_class(struct glob_state *state, __u64 closed)
{
	__u64 behind = state->in_class + 1;

	state->in_class = 0;
	if (closed)
		return end_part(state, state->found != state->inverted ? behind : 0);
	state->ordinary_from = state->in_pattern;
	return GOES_ON;
}

/* One element of a class: a byte, a range, or the closing bracket. */
static __always_inline enum match class_step(struct glob_state *state, const struct tc_text *pattern, __u8 byte)
{
	__u64 at = state->in_class, low = byte_of(pattern, at), last = byte_of(pattern, at + 2), high, is_range;
	__u64 closed = is_equal(low, ']') & ~is_equal(at, state->first_in_class);

	if (is_equal(low, 0) | closed)
		return end_class(state, closed);
	is_range = is_equal(byte_of(pattern, at + 1), '-') & ~is_equal(last, 0) & ~is_equal(last, ']');
	high = low + (last - low) * is_range;
	state->found |= 1 ^ (is_less(byte, low) | is_less(high, byte));
	state->in_class = at + 1 + 2 * is_range;
	return GOES_ON;
}

static __always_inline enum match glob_step(const struct glob *glob)
{
	const struct tc_text *pattern = glob->pattern;
	const struct string *string = &glob->compared->string;
	struct glob_state *state = &glob->compared->glob;
	__u8 byte = string->bytes[state->at & (TC_STR_LEN - 1)], wanted;

	if (state->in_class)
		return class_step(state, pattern, byte);
	wanted = byte_of(pattern, state->in_pattern);
	if (wanted == '*') {
		state->in_pattern++;
		state->star_in_pattern = state->in_pattern;
		state->star_at = state->at;
		return GOES_ON;
	}
	if (state->at >= string->length)
		return state->in_pattern >= pattern->length ? MATCHES : DIFFERS;
	if (wanted == '[' && state->in_pattern < state->ordinary_from)
		return begin_class(state, pattern);
	return end_part(state, wanted && (wanted == '?' || wanted == byte) ? state->in_pattern + 1 : 0);
}

static long glob_round(__u32 round, const struct glob *glob)
{
	enum match match = glob_step(glob);

	glob->compared->glob.match = match;
	return match == GOES_ON ? NEXT_ROUND : LAST_ROUND;
}

/*
 * For each place of the last star's end the rounds go through the pattern once, with at most one for each byte, and
 * once more through a bracket that nothing closes.
 */
enum { GLOB_ROUNDS = (TC_STR_LEN + 2) * (TC_TEXT_LEN + 1) };

static __always_inline bool matches_glob(struct compared *compared, const struct tc_text *pattern)
{
	struct glob glob = { .compared = compared, .pattern = pattern };
	struct glob_state *state = &compared->glob;

	__builtin_memset(state, 0, sizeof(*state));
	state->ordinary_from = TC_TEXT_LEN;
	bpf_loop(GLOB_ROUNDS, glob_round, &glob, 0);
	return state->match == MATCHES;
}

static __always_inline bool text_holds(__u8 op, struct compared *compared, const struct tc_text *text)
{
	bool is_same = op == TC_OP_SKIP_UNLESS_TEXT_EQ || op == TC_OP_SKIP_UNLESS_TEXT_NE;
	bool holds = is_same ? equals(&compared->string, text) : matches_glob(compared, text);

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
