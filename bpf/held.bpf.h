/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Records that wait for the end of a call: --keep-if. While a graph is open whose root has such a
 * condition, the records that its thread makes of it are held here, in blocks of the thread. When the
 * root's call ends, all of them go into the ring, or are dropped. Only the thread itself uses its blocks,
 * and it keeps them for the next call.
 */
#ifndef TRACECTL_HELD_BPF_H
#define TRACECTL_HELD_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/quota.bpf.h"
#include "bpf/shares.bpf.h"

struct held_block {
	__u64 count;		/* records in it */
	struct tc_kept kept;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TC_MAX_HELD_BLOCKS);
	__type(key, struct deep_key);
	__type(value, struct held_block);
} held_blocks SEC(".maps");

static const struct held_block no_held_block;

static __always_inline struct deep_key held_key(const struct calls *calls, __u32 block)
{
	return (struct deep_key){ .caller = calls->caller, .block = block };
}

static __always_inline struct held_block *held_block_at(const struct calls *calls, __u32 number)
{
	struct deep_key key = held_key(calls, number);

	return bpf_map_lookup_elem(&held_blocks, &key);
}

/* Like put_calls(). */
static __always_inline bool put_held_block(const struct deep_key *key)
{
	bool is_new = !bpf_map_lookup_elem(&held_blocks, key);

	if (is_new && !take_room_for(key->caller.session, TC_TABLE_HELD_BLOCKS))
		return false;
	if (!bpf_map_update_elem(&held_blocks, key, &no_held_block, BPF_ANY))
		return true;
	if (is_new)
		give_room_of(key->caller.session, TC_TABLE_HELD_BLOCKS);
	return false;
}

/* Null if there is no room for another block. */
static __always_inline struct held_block *begin_block(struct calls *calls, __u32 number)
{
	struct deep_key key = held_key(calls, number);
	struct held_block *block;

	if (number >= TC_HELD_BLOCKS)
		return 0;
	if (number >= calls->held_blocks) {
		if (!put_held_block(&key))
			return 0;
		calls->held_blocks = number + 1;
	}
	block = held_block_at(calls, number);
	if (!block)
		return 0;
	block->count = 0;
	block->kept.byte_count = 0;
	calls->held_at = number;
	return block;
}

/*
 * From now on the thread's records of the session's graph wait for the end of this call; they do not wait
 * if it is 0. Returns whether they wait.
 */
__on_its_own bool wait_for(__u32 session, __u32 call)
{
	struct calls *calls = calls_of_thread(session);

	if (!calls)
		return false;
	calls->held_call = call;
	calls->held_lost = 0;
	if (call)
		begin_block(calls, 0);
	return call;
}

/* Whether the current thread's records of the session's graphs wait. */
__on_its_own bool is_waiting(__u32 session)
{
	const struct calls *calls = calls_of_thread(session);

	return calls && calls->held_call;
}

/*
 * A block with room for a record of at most this many bytes, or null. After the first null all calls return
 * null, so that the kept records are the first ones, without a gap.
 */
static __noinline struct held_block *block_with_room(struct calls *calls, __u64 bytes)
{
	struct held_block *block = calls->held_lost ? 0 : held_block_at(calls, calls->held_at);

	if (block && block->kept.byte_count + bytes > TC_HELD_BYTES)
		block = begin_block(calls, calls->held_at + 1);
	if (!block)
		calls->held_lost++;
	return block;
}

static __always_inline struct tc_record *begin_held(struct held_block *block, const __u32 bytes)
{
	__u64 at = block->kept.byte_count;

	checked_as_used(at);
	return at <= TC_HELD_BYTES - bytes ? (struct tc_record *)(block->kept.bytes + at) : 0;
}

static __always_inline __u32 words_before_values(const struct tc_record *record)
{
	if (record->kind == TC_RECORD_HIT)
		return record->flags & TC_RECORD_CALL ? 1 : 0;
	return sizeof(struct tc_end) / 8;
}

/* Gives back the room that the record does not need. */
static __always_inline void end_held(struct held_block *block, const struct tc_record *record)
{
	block->kept.byte_count +=
		sizeof(*record) + (words_before_values(record) + record->arg_room) * 8;
	block->count++;
}

static __always_inline bool give_block(void *ring, struct held_block *block, __u64 under,
				       __u64 dropped)
{
	struct tc_record *head = (struct tc_record *)block->kept.head;
	__u64 bytes = block->kept.byte_count;

	checked_as_used(bytes);
	if (bytes > TC_HELD_BYTES)
		return false;
	head->kind = TC_RECORD_KEPT;
	head->epoch = under;
	head->ts_ns = bpf_ktime_get_boot_ns();
	head->ring_dropped = dropped;
	return !bpf_ringbuf_output(ring, &block->kept, __builtin_offsetof(struct tc_kept, bytes) + bytes,
				   wakeup_flag());
}

/* The blocks of a thread on their way into a ring. */
struct giving {
	struct calls *calls;
	void *ring;
	struct tc_ring_loss *loss;
	__u64 under;
	__u64 lost;		/* records for which the ring had no room */
};

static long give_round(__u32 at, struct giving *giving)
{
	struct calls *calls = giving->calls;
	struct held_block *block = held_block_at(calls, at);
	__u32 last = calls->held_at;

	if (!block || at > last)
		return LAST_ROUND;
	block->kept.lost = at == last ? calls->held_lost : 0;
	if (owner_may_stream(calls->caller.session, block->count) &&
	    give_block(giving->ring, block, giving->under, *(volatile __u64 *)&giving->loss->dropped))
		return NEXT_ROUND;
	__sync_fetch_and_add(&giving->loss->dropped, block->count);
	giving->lost += block->count;
	return NEXT_ROUND;
}

/* Puts all held records into the ring. Returns the number of records for which that had no room. */
__on_its_own __u64 give_held(struct calls *calls, __u64 under)
{
	struct giving giving = { .calls = calls, .under = under };
	__u32 ring_index;

	if (!calls)
		return 0;
	ring_index = calls->caller.session * cpu_count + bpf_get_smp_processor_id();
	giving.loss = bpf_map_lookup_elem(&ring_losses, &ring_index);
	giving.ring = bpf_map_lookup_elem(&rings, &ring_index);
	if (!giving.loss || !giving.ring)
		return 0;
	giving.lost = unknown_zero;
	bpf_loop(TC_HELD_BLOCKS, give_round, &giving, 0);
	/* Without a block no record can report them. */
	if (!calls->held_blocks) {
		__sync_fetch_and_add(&giving.loss->dropped, calls->held_lost);
		giving.lost += calls->held_lost;
	}
	return giving.lost;
}

static __always_inline void forget_held(const struct calls *calls)
{
	__u32 number;

	for (number = 0; number < TC_HELD_BLOCKS; number++) {
		struct deep_key key = held_key(calls, number);

		if (key.block >= calls->held_blocks)
			break;
		if (!bpf_map_delete_elem(&held_blocks, &key))
			give_room_of(key.caller.session, TC_TABLE_HELD_BLOCKS);
	}
}

/* Removes calls that have no blocks. */
static __always_inline void forget_entry(const struct calls *calls)
{
	struct caller caller = calls->caller;

	if (!bpf_map_delete_elem(&callers, &caller))
		give_room_of(caller.session, TC_TABLE_CALLERS);
}

/* Removes calls of which none is open, with all that belongs to them. */
static __always_inline void forget_calls(const struct calls *calls)
{
	forget_deep_calls(calls);
	forget_held(calls);
	forget_entry(calls);
}

/*
 * A program may have many times more goroutines than threads, and nothing reports their end. Entries are kept as long
 * as there are few: the kernel has little memory at hand for new ones of this size. Those that were deep once are kept
 * until the process ends: removing their blocks too is more than the programs have room for.
 */
__on_its_own int forget_idle_goroutine(const struct calls *calls)
{
	if (calls && calls->caller.goroutine && !calls->depth && !calls->blocks && !calls->held_blocks &&
	    entries_beside(calls->caller.session, TC_TABLE_CALLERS) > TC_MANY_CALLERS)
		forget_entry(calls);
	return 0;
}

#endif
