/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Counts, sums and histograms by keys, in tables with one value for each CPU. A program can be
 * preempted between two of its steps by another on the same CPU, so values are only added to and
 * raised atomically; no program waits for another CPU.
 */
#ifndef TRACECTL_AGGREGATE_BPF_H
#define TRACECTL_AGGREGATE_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/desk.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/key_stack.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/machine.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/shares.bpf.h"
#include "bpf/value_text.bpf.h"

enum { RAISE_TRIES = 16 };	/* each that fails was preempted by one that raised it */

__on_its_own int raise(__u64 *most, __u64 value)
{
	__u32 i;

	if (!most)
		return 0;
	for (i = 0; i < RAISE_TRIES; i++) {
		__u64 old = *(volatile __u64 *)most;

		if (value <= old || __sync_val_compare_and_swap(most, old, value) == old)
			return 0;
	}
	return 0;
}

static __always_inline __u32 log2_of(__u64 value)
{
	__u32 log = 0;

	if (value >> 32) { log += 32; value >>= 32; }
	if (value >> 16) { log += 16; value >>= 16; }
	if (value >> 8) { log += 8; value >>= 8; }
	if (value >> 4) { log += 4; value >>= 4; }
	if (value >> 2) { log += 2; value >>= 2; }
	return log + (value >> 1);
}

static __always_inline __u32 log_bucket(const struct tc_aggregate *aggregate, __u64 value)
{
	if (!aggregate->is_unsigned && (__s64)value < 0)
		return 0;
	return value ? 2 + log2_of(value) : 1;
}

static __always_inline __u32 linear_bucket(const struct tc_aggregate *aggregate, __u64 value)
{
	__u64 step = aggregate->step;
	__u64 width = aggregate->max - aggregate->min;
	bool beyond = aggregate->is_unsigned && (__s64)value < 0;

	if (!beyond && (__s64)value < aggregate->min)
		return 0;
	if (!step)
		return 0;
	if (beyond || (__s64)value >= aggregate->max)
		return 2 + (width - 1) / step;	/* max is beyond min */
	return 1 + (value - aggregate->min) / step;
}

static __always_inline bool count_key(const struct tc_key *key)
{
	void *table = table_in(counts);
	__u64 *count;

	if (!table)
		return false;
	count = bpf_map_lookup_elem(table, key);
	if (!count) {
		add_key(TC_TABLE_COUNTS, key);
		count = bpf_map_lookup_elem(table, key);
	}
	if (!count)
		return false;
	__sync_fetch_and_add(count, 1);
	return true;
}

static __always_inline bool add_to_sum(const struct tc_key *key, __u64 value, bool is_unsigned)
{
	__u64 as_unsigned = is_unsigned ? value : value ^ (1ULL << 63);
	void *table = table_in(sums);
	struct tc_sum *sum;

	if (!table)
		return false;
	sum = bpf_map_lookup_elem(table, key);
	if (!sum) {
		add_key(TC_TABLE_SUMS, key);
		sum = bpf_map_lookup_elem(table, key);
	}
	if (!sum)
		return false;
	__sync_fetch_and_add(&sum->sum, value);
	raise(&sum->high, as_unsigned);
	raise(&sum->low, ~as_unsigned);
	__sync_fetch_and_add(&sum->count, 1);	/* last: a reader that sees it sees the others */
	return true;
}

static __always_inline void add_parts(struct tc_time *time, const struct ended *ended)
{
	if (!ended->is_split)
		return;
	__sync_fetch_and_add(&time->split, 1);
	__sync_fetch_and_add(&time->running, ended->duration_ns - ended->runnable_ns - ended->blocked_ns);
	__sync_fetch_and_add(&time->runnable, ended->runnable_ns);
	__sync_fetch_and_add(&time->blocked, ended->blocked_ns);
}

/* Not on its own: Linux 6.1 would not take its argument for a key of a table. */
static __noinline bool add_to_time(const struct tc_key *key, const struct ended *ended)
{
	void *table = table_in(times);
	struct tc_time *time;
	__u32 bucket;

	if (!table)
		return false;
	bucket = ended->duration_ns ? 1 + log2_of(ended->duration_ns) : 0;
	time = bpf_map_lookup_elem(table, key);
	if (!time) {
		add_key(TC_TABLE_TIMES, key);
		time = bpf_map_lookup_elem(table, key);
	}
	if (!time || bucket >= TC_TIME_BUCKETS)
		return false;
	__sync_fetch_and_add(&time->total, ended->duration_ns);
	__sync_fetch_and_add(&time->self, ended->self_ns);
	__sync_fetch_and_add(&time->probes, ended->probes_ns);
	add_parts(time, ended);
	raise(&time->high, ended->duration_ns);
	raise(&time->low, ~ended->duration_ns);
	__sync_fetch_and_add(&time->buckets[bucket], 1);
	__sync_fetch_and_add(&time->count, 1);	/* last: a reader that sees it sees the others */
	return true;
}

enum {
	NO_ROOM = -1,
	MATCHED_BY = TC_MAX_AGGREGATES,	/* the number of tc_spec.matched_by */
};

/* An aggregate's number and words_below_caller of tc_hook in one word: a function has at most five parameters. */
static __always_inline __u64 packed_which(__u32 aggregate, __u8 words_below_caller)
{
	return aggregate | (__u64)words_below_caller << 32;
}

static __always_inline const struct tc_aggregate *aggregate_of(const struct tc_spec *spec, __u64 number)
{
	number = (__u32)number;
	if (number == MATCHED_BY)
		return &spec->matched_by;
	return &spec->aggregates[number & (TC_MAX_AGGREGATES - 1)];
}

/*
 * At the end of a call its stack begins with the caller. If the call ended without returning, only the
 * caller is known.
 */
static __always_inline int stack_part(bpf_user_pt_regs_t *ctx, const struct tc_value *value,
				      __u16 session, __u8 words_below_caller,
				      const struct ended *ended, __u64 *part)
{
	__u64 caller = 0;

	if (ended) {
		caller = ended->return_address;
		if (!caller || (ended->kind == TC_RECORD_UNWOUND && value->a > 1))
			return false;
	}
	*part = number_of_stack(ctx, caller,
				key_stack_of(value, words_below_caller, session, caller));
	return *part ? true : NO_ROOM;
}

static __always_inline int path_part(const struct ended *ended, __u64 *part)
{
	*part = ended ? ended->path : 0;
	return *part == TC_NO_PATH ? NO_ROOM : true;
}

static __always_inline int text_part(bpf_user_pt_regs_t *ctx, __u64 code,
				     const struct tc_value *value, __u16 session,
				     const struct ended *ended, __u64 *part)
{
	if (has_address(value) && !evaluate(ctx, code, packed(value), part, ended))
		return false;
	*part = number_of_text(packed(value), *part, session);
	if (*part == unread_text)
		return false;
	return *part ? true : NO_ROOM;
}

/* Returns whether the part can be read, or NO_ROOM. Inline: there is no frame for it (bpf/loop.bpf.h). */
static __always_inline int key_part(bpf_user_pt_regs_t *ctx, __u64 code, const struct tc_value *value,
				    __u64 which, __u16 session, const struct ended *ended, __u64 *part)
{
	if (value->kind == TC_VALUE_STACK)
		return stack_part(ctx, value, session, which >> 32, ended, part);
	if (value->kind == TC_VALUE_PATH)
		return path_part(ended, part);
	if (is_text(value))
		return text_part(ctx, code, value, session, ended, part);
	return evaluate(ctx, code, packed(value), part, ended);
}

/* False if there is no room for a part of it. `which`: by packed_which(). */
static __always_inline bool make_key(bpf_user_pt_regs_t *ctx, __u64 code, const struct tc_spec *spec,
				     __u64 which, const struct ended *ended, struct tc_key *key)
{
	const struct tc_aggregate *aggregate = aggregate_of(spec, which);
	__u32 i;

#pragma clang loop unroll(disable)	/* unrolled it takes more stack */
	for (i = 0; i < TC_KEY_PARTS; i++) {
		int read;

		if (i >= aggregate->key_count)
			return true;
		read = key_part(ctx, code, &aggregate->keys[i], which, spec->session, ended, &key->part[i]);
		if (read == NO_ROOM)
			return false;
		if (!read) {
			key->part[i] = 0;
			key->missing |= 1 << i;
		}
	}
	return true;
}

static __always_inline bool is_by_path(const struct tc_aggregate *aggregate)
{
	return aggregate->key_count && aggregate->keys[0].kind == TC_VALUE_PATH;
}

/*
 * Adds a call that ended without returning. Its time is added only by path, because there the self time
 * of the calls around it lacks it.
 */
static __always_inline bool add_unwound(const struct tc_aggregate *aggregate, struct tc_key *key,
					const struct ended *ended)
{
	if (is_by_path(aggregate) && !add_to_time(key, ended))
		return false;
	key->missing |= TC_CALL_UNWOUND;
	return count_key(key);
}

static __always_inline bool add_value(bpf_user_pt_regs_t *ctx, __u64 code,
				      const struct tc_aggregate *aggregate,
				      const struct ended *ended, struct tc_key *key)
{
	__u64 value = 0;

	if (ended && ended->kind == TC_RECORD_UNWOUND)
		return add_unwound(aggregate, key, ended);
	if (aggregate->kind == TC_COUNT)
		return count_key(key);
	if (aggregate->kind == TC_TIME)
		return !ended || add_to_time(key, ended);
	if (!evaluate(ctx, code, packed(&aggregate->value), &value, ended)) {
		key->missing |= TC_VALUE_MISSING;
		return count_key(key);
	}
	if (aggregate->kind == TC_SUM)
		return add_to_sum(key, value, aggregate->is_unsigned);
	key->bucket = aggregate->kind == TC_HIST ? log_bucket(aggregate, value)
						 : linear_bucket(aggregate, value);
	return count_key(key);
}

static __always_inline struct tc_key *begin_key(struct desk *desk, __u32 stat, __u32 aggregate)
{
	__builtin_memset(&desk->key, 0, sizeof(desk->key));
	desk->key.stat = stat;
	desk->key.aggregate = aggregate;
	return &desk->key;
}

/* False if there is no room for a new key. `which`: by packed_which(). `ended`: set if the hit is the end of a call. */
__on_its_own bool add_to_aggregate(bpf_user_pt_regs_t *ctx, __u64 code, __u32 stat, __u64 which,
				   const struct ended *ended)
{
	__u32 index = code, number = which;
	const struct tc_spec *spec = bpf_map_lookup_elem(&specs, &index);
	const struct tc_aggregate *aggregate = spec ? aggregate_of(spec, number) : 0;
	struct desk *desk;
	struct tc_key *key;

	if (!aggregate || aggregate->at != !!ended)
		return true;
	desk = desk_of_thread();
	if (!desk)
		return false;
	key = begin_key(desk, stat, number);
	return make_key(ctx, code, spec, which, ended, key) &&
	       add_value(ctx, code, aggregate, ended, key);
}

#endif
