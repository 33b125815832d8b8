/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Counts, sums and histograms by keys, in tables whose values each CPU has for itself. A program can
 * be preempted between two of its steps by another on the same CPU, so values are only added to and
 * raised atomically; nobody waits for another CPU.
 */
#ifndef TRACECTL_AGGREGATE_BPF_H
#define TRACECTL_AGGREGATE_BPF_H

enum { RAISE_TRIES = 16 };	/* each that fails was preempted by one that raised it */

static __always_inline void raise(__u64 *most, __u64 value)
{
	__u32 i;

	for (i = 0; i < RAISE_TRIES; i++) {
		__u64 old = *(volatile __u64 *)most;

		if (value <= old || __sync_val_compare_and_swap(most, old, value) == old)
			return;
	}
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
	__u64 *count = bpf_map_lookup_elem(&counts, key);

	if (!count) {
		add_key(TC_TABLE_COUNTS, key);
		count = bpf_map_lookup_elem(&counts, key);
	}
	if (!count)
		return false;
	__sync_fetch_and_add(count, 1);
	return true;
}

static __always_inline bool add_to_sum(const struct tc_key *key, __u64 value, bool is_unsigned)
{
	__u64 as_unsigned = is_unsigned ? value : value ^ (1ULL << 63);
	struct tc_sum *sum = bpf_map_lookup_elem(&sums, key);

	if (!sum) {
		add_key(TC_TABLE_SUMS, key);
		sum = bpf_map_lookup_elem(&sums, key);
	}
	if (!sum)
		return false;
	__sync_fetch_and_add(&sum->sum, value);
	raise(&sum->high, as_unsigned);
	raise(&sum->low, ~as_unsigned);
	__sync_fetch_and_add(&sum->count, 1);	/* last: who sees it sees the others */
	return true;
}

/* Checked on its own, as more than one is to be loaded that has it. */
__on_its_own bool add_to_time(const struct tc_key *key, const struct ended *ended)
{
	struct tc_time *time;
	__u32 bucket;

	if (!key || !ended)
		return false;
	bucket = ended->duration_ns ? 1 + log2_of(ended->duration_ns) : 0;
	time = bpf_map_lookup_elem(&times, key);
	if (!time) {
		add_key(TC_TABLE_TIMES, key);
		time = bpf_map_lookup_elem(&times, key);
	}
	if (!time || bucket >= TC_TIME_BUCKETS)
		return false;
	__sync_fetch_and_add(&time->total, ended->duration_ns);
	__sync_fetch_and_add(&time->self, ended->self_ns);
	raise(&time->high, ended->duration_ns);
	raise(&time->low, ~ended->duration_ns);
	__sync_fetch_and_add(&time->buckets[bucket], 1);
	__sync_fetch_and_add(&time->count, 1);	/* last: who sees it sees the others */
	return true;
}

struct aggregation {
	bpf_user_pt_regs_t *ctx;
	__u64 code;
	const struct tc_aggregate *aggregate;
	const struct ended *ended;
	struct tc_key key;
	__u16 session;
	__u8 words_below_caller;	/* as in tc_hook */
};

/* The string of a value; false where it cannot be read. */
__on_its_own bool text_of(bpf_user_pt_regs_t *ctx, __u64 code, __u64 value, struct string *string,
			  const struct ended *ended)
{
	struct tc_value what;
	__u64 address = 0;

	if (!string)
		return false;
	__builtin_memcpy(&what, &value, sizeof(what));
	if (what.kind == TC_VALUE_COMM) {
		string_of_comm(string);
		return true;
	}
	if (what.kind == TC_VALUE_TAG)
		return string_of_tag_for(string, code);
	if (!evaluate(ctx, code, value, &address, ended))
		return false;
	if (what.kind == TC_VALUE_BYTES)
		return read_bytes(string, address, what.most_bytes);
	return read_string(string, address, what.most_bytes);
}

static __always_inline bool is_text(const struct tc_value *value)
{
	return value->kind == TC_VALUE_COMM || value->kind == TC_VALUE_STR ||
	       value->kind == TC_VALUE_TAG || value->kind == TC_VALUE_BYTES;
}

enum { NO_ROOM = -1 };

/*
 * At the end of a call its stack begins with the caller. Of one that was left without returning only
 * the caller is known.
 */
static __always_inline int stack_part(struct aggregation *to, const struct tc_value *value, __u32 i)
{
	struct key_stack_of of = { .most = value->a,
				   .words_below_caller = to->words_below_caller,
				   .session = to->session,
				   .without_innermost = value->from };
	__u64 number = 0;

	if (to->ended) {
		of.caller = to->ended->return_address;
		if (!of.caller || (to->ended->kind == TC_RECORD_UNWOUND && of.most > 1))
			return false;
		of.without_innermost = true;
	}
	number = number_of_stack(to->ctx, &of);
	to->key.part[i] = number;
	return number ? true : NO_ROOM;
}

static __always_inline int path_part(struct aggregation *to, __u32 i)
{
	to->key.part[i] = to->ended ? to->ended->path : 0;
	return to->key.part[i] == TC_NO_PATH ? NO_ROOM : true;
}

/* Whether part i of the key can be read, or NO_ROOM. */
static __always_inline int key_part(struct aggregation *to, __u32 i)
{
	const struct tc_value *value = &to->aggregate->keys[i];
	struct string string;
	__u64 part = 0;

	if (value->kind == TC_VALUE_STACK)
		return stack_part(to, value, i);
	if (value->kind == TC_VALUE_PATH)
		return path_part(to, i);
	if (is_text(value)) {
		if (!text_of(to->ctx, to->code, packed(value), &string, to->ended))
			return false;
		to->key.part[i] = number_of_string(&string, to->session);
		return to->key.part[i] ? true : NO_ROOM;
	}
	if (!evaluate(to->ctx, to->code, packed(value), &part, to->ended))
		return false;
	to->key.part[i] = part;
	return true;
}

static __always_inline bool make_key(struct aggregation *to)
{
	__u32 i;

	for (i = 0; i < TC_KEY_PARTS; i++) {
		int read;

		if (i >= to->aggregate->key_count)
			return true;
		read = key_part(to, i);
		if (read == NO_ROOM)
			return false;
		if (!read)
			to->key.missing |= 1 << i;
	}
	return true;
}

static __always_inline bool is_by_path(const struct tc_aggregate *aggregate)
{
	return aggregate->key_count && aggregate->keys[0].kind == TC_VALUE_PATH;
}

/*
 * A call that is left without returning. Its time is added up by path only: there it is missing in
 * that of the calls around it.
 */
static __always_inline bool add_unwound(const struct tc_aggregate *aggregate, struct tc_key *key,
					const struct ended *ended)
{
	if (is_by_path(aggregate) && !add_to_time(key, ended))
		return false;
	key->missing |= TC_CALL_UNWOUND;
	return count_key(key);
}

static __always_inline bool add_value(struct aggregation *to)
{
	const struct tc_aggregate *aggregate = to->aggregate;
	__u64 value = 0;

	if (to->ended && to->ended->kind == TC_RECORD_UNWOUND)
		return add_unwound(aggregate, &to->key, to->ended);
	if (aggregate->kind == TC_COUNT)
		return count_key(&to->key);
	if (aggregate->kind == TC_TIME)
		return !to->ended || add_to_time(&to->key, to->ended);
	if (!evaluate(to->ctx, to->code, packed(&aggregate->value), &value, to->ended)) {
		to->key.missing |= TC_VALUE_MISSING;
		return count_key(&to->key);
	}
	if (aggregate->kind == TC_SUM)
		return add_to_sum(&to->key, value, aggregate->is_unsigned);
	to->key.bucket = aggregate->kind == TC_HIST ? log_bucket(aggregate, value)
						    : linear_bucket(aggregate, value);
	return count_key(&to->key);
}

/*
 * False where there is no room for a new key. `which`: the aggregate's number and, from bit 8 on, where
 * the caller is, as in tc_hook. `ended`, if the hit is the end of a call.
 */
__on_its_own bool add_to_aggregate(bpf_user_pt_regs_t *ctx, __u64 code, __u32 stat, __u32 which,
				   const struct ended *ended)
{
	__u32 number = (__u8)which;
	struct aggregation to = { .ctx = ctx,
				  .code = code,
				  .ended = ended,
				  .words_below_caller = which >> 8,
				  .key = { .stat = stat, .aggregate = number } };
	__u32 index = code;
	const struct tc_spec *spec = bpf_map_lookup_elem(&specs, &index);

	if (!spec || number >= TC_MAX_AGGREGATES)
		return true;
	to.session = spec->session;
	to.aggregate = &spec->aggregates[number];
	if (!to.aggregate->at_return != !ended)
		return true;
	return make_key(&to) && add_value(&to);
}

#endif
