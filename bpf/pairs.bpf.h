/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The time from a hit of one probe to a hit of another, in any thread or process, matched by a key. A
 * table has the starts that wait for their ends.
 *
 * These sums always hold, whatever the threads do:
 *
 *   started   = matched + overwritten + entries in the table
 *   hits from = started + unread + dropped,   hits to = matched + unmatched + unread + dropped
 *
 * A BPF hash cannot return an element and delete it in one step, and between the two another CPU can put
 * a new one there. So starts are protected by locks, one of many by the hash of the key. A hit that does
 * not get its lock in LOCK_TRIES is dropped and counted, because it may have preempted the holder. The
 * clock is read under the lock, so no end is before its start.
 */
#ifndef TRACECTL_PAIRS_BPF_H
#define TRACECTL_PAIRS_BPF_H

#include "bpf/abi.h"
#include "bpf/aggregate.bpf.h"
#include "bpf/desk.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/machine.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/off_cpu.bpf.h"
#include "bpf/operands.bpf.h"
#include "bpf/probe_time.bpf.h"
#include "bpf/shares.bpf.h"
#include "bpf/thread.bpf.h"

enum {
	START_LOCK_BITS = 10,
	LOCK_TRIES = 1 << 18,	/* about a millisecond; a lock is held for less than a microsecond, */
				/*   unless its holder is preempted */
};

/* `bucket` of the keys is the session. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TC_MAX_STARTS);
	__type(key, struct tc_key);
	__type(value, struct tc_start);
} starts SEC(".maps");

/* User space makes and deletes the entries. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TC_MAX_PAIR_HOOKS);
	__type(key, __u32);
	__type(value, struct tc_pair_stat);
} pair_stats SEC(".maps");

__u64 start_locks[1 << START_LOCK_BITS];

static __always_inline __u64 *lock_of(const struct tc_key *key)
{
	const __u64 odd = 0x9e3779b97f4a7c15;	/* spreads adjacent values over all bits */
	__u64 hash = key->stat;
	__u32 i;

	for (i = 0; i < TC_KEY_PARTS; i++)
		hash = (hash ^ hash >> 32 ^ key->part[i]) * odd;
	return &start_locks[hash >> (64 - START_LOCK_BITS) & ((1 << START_LOCK_BITS) - 1)];
}

/* A lock that is being taken, or a sequence that is being made odd. */
struct taking {
	__u64 *lock;
	__u64 taken;
};

static long try_lock(__u32 round, struct taking *taking)
{
	__u64 *lock = taking->lock;

	if (*(volatile __u64 *)lock || __sync_val_compare_and_swap(lock, 0, 1))
		return NEXT_ROUND;
	taking->taken = true;
	return LAST_ROUND;
}

static __always_inline bool take_lock(__u64 *lock)
{
	struct taking taking = { .lock = lock };

	if (!__sync_val_compare_and_swap(lock, 0, 1))
		return true;
	taking.taken = unknown_zero;
	bpf_loop(LOCK_TRIES, try_lock, &taking, 0);
	return taking.taken;
}

static __always_inline void release_lock(__u64 *lock)
{
	__sync_lock_test_and_set(lock, 0);
}

/* A hit of a side of a pair, and the start that it found. */
struct meeting {
	const struct tc_key *key;
	struct tc_start *start;	/* the start that was removed, if `met` */
	__u64 now_ns;
	bool met;
	bool splits;		/* the time between the hits, if they are of one thread */
};

/* Removes the key's start, if there is one. Under the lock. */
static __always_inline void take_start(struct meeting *meeting)
{
	const struct tc_start *start = bpf_map_lookup_elem(&starts, meeting->key);

	if (!start)
		return;
	*meeting->start = *start;
	meeting->met = true;
	if (!bpf_map_delete_elem(&starts, meeting->key))
		give_room_of(meeting->key->bucket, TC_TABLE_STARTS);
}

/* Adds a start, when there is none. Under the lock. */
static __always_inline bool put_start(const struct meeting *meeting)
{
	struct thread thread = ids_of_current();
	struct tc_start start = { .began_ns = meeting->now_ns,
				  .pid = thread.pid,
				  .tid = thread.tid,
				  .born_ns = bpf_get_current_task_btf()->start_boottime,
				  .off_cpu.unseen = TC_NOT_SPLIT };

	if (meeting->splits)
		begin_split(&start.off_cpu, meeting->now_ns);
	if (!take_room_for(meeting->key->bucket, TC_TABLE_STARTS))
		return false;
	if (!bpf_map_update_elem(&starts, meeting->key, &start, BPF_NOEXIST))
		return true;
	give_room_of(meeting->key->bucket, TC_TABLE_STARTS);
	return false;
}

static __always_inline void count_put(struct tc_pair_stat *stat, bool put)
{
	__sync_fetch_and_add(put ? &stat->started : &stat->dropped, 1);
}

/* Removes the key's start and adds a new one, as the sides of the hit say. */
static __always_inline void meet(struct meeting *meeting, struct tc_pair_stat *stat, __u32 sides)
{
	__u64 *lock = lock_of(meeting->key);
	bool put = false;

	if (!take_lock(lock)) {
		__sync_fetch_and_add(&stat->dropped, 1);
		return;
	}
	meeting->now_ns = bpf_ktime_get_boot_ns();
	take_start(meeting);
	if (sides & TC_PAIR_FROM)
		put = put_start(meeting);
	release_lock(lock);
	if (sides & TC_PAIR_FROM)
		count_put(stat, put);
	if (sides & TC_PAIR_TO)
		__sync_fetch_and_add(meeting->met ? &stat->matched : &stat->unmatched, 1);
	else if (meeting->met)
		__sync_fetch_and_add(&stat->overwritten, 1);
}

/* ---- the slowest ---- */

static __always_inline struct tc_slow *slow_at(struct tc_pair_stat *stat, __u64 index)
{
	return &stat->slowest[index & (TC_MAX_SLOWEST - 1)];
}

/* The index of the shortest pair in the list. */
static __always_inline __u64 index_of_least(struct tc_pair_stat *stat)
{
	__u64 least = unknown_zero;
	__u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < TC_MAX_SLOWEST; i++) {
		if (i >= stat->listed)
			break;
		if (slow_at(stat, i)->duration_ns < slow_at(stat, least)->duration_ns)
			least = i ^ unknown_zero;
	}
	return least;
}

static __always_inline void describe_slow(struct tc_slow *slow, const struct meeting *meeting,
					  __u64 duration_ns)
{
	struct thread thread = ids_of_current();

	slow->duration_ns = duration_ns;
	slow->ended_ns = meeting->now_ns;
	__builtin_memcpy(slow->part, meeting->key->part, sizeof(slow->part));
	slow->missing = meeting->key->missing;
	slow->from_pid = meeting->start->pid;
	slow->from_tid = meeting->start->tid;
	slow->to_pid = thread.pid;
	slow->to_tid = thread.tid;
}

static long try_change(__u32 round, struct taking *taking)
{
	__u64 sequence = *(volatile __u64 *)taking->lock;

	if (sequence & 1 || __sync_val_compare_and_swap(taking->lock, sequence, sequence + 1) != sequence)
		return NEXT_ROUND;
	taking->taken = true;
	return LAST_ROUND;
}

/* Makes the sequence odd. It is the lock, and shows readers that a change is under way. */
static __always_inline bool begin_change(struct tc_pair_stat *stat)
{
	struct taking taking = { .lock = &stat->sequence };

	taking.taken = unknown_zero;
	bpf_loop(LOCK_TRIES, try_change, &taking, 0);
	return taking.taken;
}

static __always_inline void list_slow(struct tc_pair_stat *stat, const struct meeting *meeting,
				      __u64 duration_ns)
{
	__u64 at = stat->listed;

	if (at >= stat->wanted)
		at = index_of_least(stat);
	if (stat->listed < stat->wanted)
		stat->listed++;
	else if (slow_at(stat, at)->duration_ns >= duration_ns)
		return;		/* a longer pair has been listed meanwhile */
	describe_slow(slow_at(stat, at), meeting, duration_ns);
	if (stat->listed == stat->wanted)
		stat->least_ns = slow_at(stat, index_of_least(stat))->duration_ns;
}

/* The longer a session runs, the fewer pairs get past the first check. */
static __always_inline void note_if_slow(struct tc_pair_stat *stat, const struct meeting *meeting,
					 __u64 duration_ns)
{
	if (!stat->wanted || (stat->least_ns && duration_ns <= stat->least_ns))
		return;
	if (!begin_change(stat)) {
		__sync_fetch_and_add(&stat->unlisted, 1);
		return;
	}
	list_slow(stat, meeting, duration_ns);
	__sync_fetch_and_add(&stat->sequence, 1);
}

/* ---- what a hit does ---- */

/* False if the hit has no complete key. */
static __always_inline bool find_key(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook,
				     const struct tc_spec *spec, struct tc_pair_stat *stat,
				     struct tc_key *key)
{
	if (!make_key(ctx, code_of(hook), spec, packed_which(MATCHED_BY, 0), 0, key)) {
		__sync_fetch_and_add(&stat->dropped, 1);
		return false;
	}
	if (key->missing) {
		__sync_fetch_and_add(&stat->unread, 1);
		return false;
	}
	return true;
}

static __always_inline bool is_by_current(const struct tc_start *start)
{
	return start->tid == ids_of_current().tid &&
	       start->born_ns == bpf_get_current_task_btf()->start_boottime;
}

/* Fills the desk's `matched`, which is then treated like the end of a call. */
static __always_inline void end_pair(struct desk *desk, const struct meeting *meeting,
				     struct tc_pair_stat *stat)
{
	__u64 duration_ns = passed(meeting->start->began_ns, meeting->now_ns);

	note_if_slow(stat, meeting, duration_ns);
	desk->matched.kind = TC_RECORD_LATENCY;
	desk->matched.duration_ns = duration_ns;
	desk->matched.self_ns = duration_ns;
	desk->matched.probes_ns = 0;
	desk->matched.is_split = false;
	if (meeting->splits && is_by_current(meeting->start))
		split_duration(&desk->matched, &meeting->start->off_cpu, meeting->now_ns);
	desk->matched.args.valid = 0;
}

/* Whether the hit of a side of a pair ends one; the desk's `matched` has it then. */
__on_its_own bool meet_other_side(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook)
{
	struct desk *desk = desk_of_thread();
	struct meeting meeting = {};
	struct tc_pair_stat *stat;
	const struct tc_spec *spec;
	__u32 spec_index, stat_index;

	if (!hook)
		return false;
	spec_index = hook->spec;
	stat_index = hook->stat;
	spec = bpf_map_lookup_elem(&specs, &spec_index);
	stat = bpf_map_lookup_elem(&pair_stats, &stat_index);
	if (!spec || !stat)
		return false;
	if (!desk) {
		__sync_fetch_and_add(&stat->dropped, 1);
		return false;
	}
	meeting.key = begin_key(desk, spec->pair, 0);
	desk->key.bucket = spec->session;
	if (!find_key(ctx, hook, spec, stat, &desk->key))
		return false;
	meeting.start = &desk->start;
	meeting.splits = spec->at_return & TC_SPLIT;
	meet(&meeting, stat, spec->pair_sides);
	if (!meeting.met || !(spec->pair_sides & TC_PAIR_TO))
		return false;
	end_pair(desk, &meeting, stat);
	if (spec->at_return & TC_KEEP_ARGS)
		keep_args(ctx, hook->layout, &desk->matched.args);
	return true;
}

#endif
