/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Every user has a share of each table that hits fill. A new entry is charged to an account before it is made; for
 * an existing entry a hit does nothing here. The shares and the rest add up to no more than the table holds, so a
 * user within its share always finds room. User space does the same steps when it removes entries
 * (daemon/kernel/rooms.cpp).
 *
 * Steps on different CPUs may happen in any order: rest_used becomes the sum of the entries beyond the shares,
 * because the old value of `used` alone decides how much of each change belongs to the rest.
 */
#ifndef TRACECTL_SHARES_BPF_H
#define TRACECTL_SHARES_BPF_H

#include "bpf/abi.h"
#include "bpf/chunks.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"

static __always_inline __u32 share_of(const struct tc_room *room, __u32 account)
{
	return account ? room->share_of_user : room->share_of_root;
}

static __always_inline void give_room(struct tc_room *room, __u32 account)
{
	__u32 share = share_of(room, account);

	if (__sync_fetch_and_add(&room->used[account % TC_MAX_ACCOUNTS], -1) > share)
		__sync_fetch_and_add(&room->rest_used, -1);
}

/* Whether the account may make one more entry; charges it then. */
static __always_inline bool take_room(struct tc_room *room, __u32 account)
{
	__u32 share = share_of(room, account);
	__u32 *used = &room->used[account % TC_MAX_ACCOUNTS];

	if (*(volatile __u32 *)used >= share && *(volatile __u32 *)&room->rest_used >= room->rest)
		return false;
	if (__sync_fetch_and_add(used, 1) < share)
		return true;
	if (__sync_fetch_and_add(&room->rest_used, 1) < room->rest)
		return true;
	give_room(room, account);
	return false;
}

static __always_inline __u32 account_of(__u32 session)
{
	const struct tc_session *of = bpf_map_lookup_elem(&sessions, &session);

	return of ? of->account : 0;
}

/* The entries of the session's account. */
static __always_inline __u32 entries_beside(__u32 session, enum tc_table table)
{
	return rooms[table].used[account_of(session) % TC_MAX_ACCOUNTS];
}

/* The same, for the account of the session for which an entry is made. */
__on_its_own bool take_room_for(__u32 session, __u32 table)
{
	return table < TC_TABLES && take_room(&rooms[table], account_of(session));
}

__on_its_own int give_room_of(__u32 session, __u32 table)
{
	if (table < TC_TABLES)
		give_room(&rooms[table], account_of(session));
	return 0;
}

static const struct tc_time no_time;
static const struct tc_sum no_sum;
static const __u64 no_count;

static __always_inline long insert_key(__u32 table, const struct tc_key *key)
{
	void *keys;

	if (table == TC_TABLE_COUNTS) {
		keys = table_in(counts);
		return keys ? bpf_map_update_elem(keys, key, &no_count, BPF_NOEXIST) : -1;
	}
	if (table == TC_TABLE_SUMS) {
		keys = table_in(sums);
		return keys ? bpf_map_update_elem(keys, key, &no_sum, BPF_NOEXIST) : -1;
	}
	keys = table_in(times);
	return keys ? bpf_map_update_elem(keys, key, &no_time, BPF_NOEXIST) : -1;
}

/*
 * Makes the key's entry if there is room. If another program is first, the entry is there too. Linux 6.1 takes no
 * argument of a function that it checks by itself for a key of a table, so that is copied.
 */
__on_its_own int add_key(__u32 table, const struct tc_key *key)
{
	struct tc_room *room;
	struct tc_key own;
	__u32 account;

	if (!key || table >= TC_TABLES)
		return 0;
	room = &rooms[table];
	own = *key;
	account = account_of_counters(own.stat);
	if (take_room(room, account) && insert_key(table, &own))
		give_room(room, account);
	return 0;
}

#endif
