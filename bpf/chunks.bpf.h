/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Where slots, counters and further hooks are, by their numbers. The first slots and counters are found without a
 * lookup, or by one; those after them, and all further hooks, are in chunks, which exist only if so many were needed.
 */
#ifndef TRACECTL_CHUNKS_BPF_H
#define TRACECTL_CHUNKS_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"

/* `after`: number of the slot less that of the first one in a chunk. */
static __noinline struct tc_slot *slot_in_chunk(__u32 after)
{
	__u32 chunk = after / TC_CHUNK_SLOTS, index = after % TC_CHUNK_SLOTS;
	void *of_chunk = bpf_map_lookup_elem(&slot_chunks, &chunk);

	return of_chunk ? bpf_map_lookup_elem(of_chunk, &index) : 0;
}

/* The slot with the number that the lowest bits of the cookie have; null if there is none. */
static __always_inline struct tc_slot *slot_of(__u64 cookie)
{
	__u32 number = cookie % TC_MAX_SLOTS;

	if (number < TC_FIRST_SLOTS)
		return &slots[number];
	return slot_in_chunk(number - TC_FIRST_SLOTS);
}

/* A hook besides the first of its slot; null if there is none. */
static __always_inline const struct tc_hook *further_hook(__u32 number)
{
	__u32 chunk = number / TC_CHUNK_HOOKS, index = number % TC_CHUNK_HOOKS;
	void *of_chunk = bpf_map_lookup_elem(&hook_chunks, &chunk);

	return of_chunk ? bpf_map_lookup_elem(of_chunk, &index) : 0;
}

static __always_inline struct tc_stat *stat_in_chunk(__u32 after, __u32 row)
{
	__u32 chunk = after / TC_CHUNK_STATS, index = row + after % TC_CHUNK_STATS;
	void *of_chunk = bpf_map_lookup_elem(&stat_chunks, &chunk);

	return of_chunk ? bpf_map_lookup_elem(of_chunk, &index) : 0;
}

/* This CPU's counters with that number. */
static __always_inline struct tc_stat *stat_of(__u32 stat)
{
	__u32 cpu = bpf_get_smp_processor_id(), index;

	if (stat >= TC_FIRST_STATS)
		return stat_in_chunk(stat - TC_FIRST_STATS, cpu * TC_CHUNK_STATS);
	index = cpu * TC_FIRST_STATS + stat;
	return bpf_map_lookup_elem(&stats, &index);
}

/* `counter`: its place in a struct tc_stat. */
__on_its_own int add_to_stat(__u32 stat, __u32 counter, __u64 by)
{
	__u64 *counters = (__u64 *)stat_of(stat);

	if (counters && counter < sizeof(struct tc_stat) / sizeof(*counters))
		__sync_fetch_and_add(&counters[counter], by);
	return 0;
}

/*
 * For counters that most hits leave alone. A pointer to them would be one of two kinds, and the verifier would walk all
 * that follows for both.
 */
#define add_to_counter(hook, counter, by) \
	add_to_stat((hook)->stat, offsetof(struct tc_stat, counter) / sizeof(__u64), by)

static __noinline __u32 account_in_chunk(__u32 after)
{
	__u32 chunk = after / TC_CHUNK_STATS, place = after % TC_CHUNK_STATS;
	__u32 index = cpu_count * TC_CHUNK_STATS + place / TC_PACKED_ACCOUNTS;
	void *of_chunk = bpf_map_lookup_elem(&stat_chunks, &chunk);
	const struct tc_packed_accounts *accounts = of_chunk ? bpf_map_lookup_elem(of_chunk, &index) : 0;

	return accounts ? accounts->of[place % TC_PACKED_ACCOUNTS] : 0;
}

/* The account of the entries whose key has these counters. */
static __always_inline __u32 account_of_counters(__u32 stat)
{
	checked_as_used(stat);
	if (stat < TC_FIRST_STATS)
		return account_of_stat[stat];
	return account_in_chunk(stat - TC_FIRST_STATS);
}

#endif
