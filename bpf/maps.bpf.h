/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The maps, and the variables that user space shares with the programs. */
#ifndef TRACECTL_MAPS_BPF_H
#define TRACECTL_MAPS_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"

/* Set before loading. */
const volatile __u32 cpu_count = 1;		/* rows of `stats`, columns of `rings` */
const volatile bool in_own_pid_namespace;	/* the engine is not in the initial one; */
const volatile __u64 pid_namespace_device;	/*   process ids are those of this one */
const volatile __u64 pid_namespace_inode;

/* The number of switches; the lowest bit is the active generation. */
__u64 epoch;

__u32 attention;	/* enum tc_attention */
__u32 ignored_pid;	/* for TC_IGNORE_PROCESS; as the engine sees it */

/* Number of hooks in force at all slots, by generation: if it is 0 a hit need not find its slot. */
__u32 in_force[2];

__u32 last_text;	/* the greatest number in `texts` */
__u64 last_path;	/* the last number that `paths` was given */
__u32 last_own_tag;	/* the greatest number in `own_tags`, without TC_OWN_TAG */

struct tc_room rooms[TC_TABLES];

/* The account of the entries whose key has a hook's counters. User space sets it with the counters. */
__u8 account_of_stat[TC_FIRST_STATS];

/* Secret, so that nobody can construct two stacks with the same number. Set before loading. */
const volatile __u64 key_stack_seed;

/* Set by the reader before it sleeps on its rings; the next record wakes it and clears this. */
__u32 reader_sleeps;

/* The flag for submitting a record. */
static __always_inline __u64 wakeup_flag(void)
{
	if (!*(volatile __u32 *)&reader_sleeps)
		return BPF_RB_NO_WAKEUP;
	reader_sleeps = 0;
	return BPF_RB_FORCE_WAKEUP;
}

/* Not a map of its own: indexing costs less than a lookup. A generation is a cache line. */
struct tc_slot slots[TC_FIRST_SLOTS] __attribute__((aligned(sizeof(struct tc_slot))));

/* Index: cpu. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);	/* cpu_count, set before loading */
	__type(key, __u32);
	__type(value, struct tc_first_hit);
} first_hits SEC(".maps");

/* Index: cpu * TC_FIRST_STATS + stat. User space maps the array, and so reads it without a system call. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TC_FIRST_STATS);	/* times cpu_count, set before loading */
	__type(key, __u32);
	__type(value, struct tc_stat);
} stats SEC(".maps");

/*
 * Slots and counters after the first, and the hooks besides the first of each slot. User space makes a chunk when a
 * number in it is first needed (daemon/kernel/chunks.h), and maps it. bpf/chunks.bpf.h finds them.
 */
struct chunk_of_hooks {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	__uint(max_entries, 1);	/* TC_CHUNK_HOOKS */
	__type(key, __u32);
	__type(value, struct tc_hook);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, TC_HOOK_CHUNKS);
	__type(key, __u32);
	__array(values, struct chunk_of_hooks);
} hook_chunks SEC(".maps");

struct chunk_of_slots {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	__uint(max_entries, 1);	/* TC_CHUNK_SLOTS */
	__type(key, __u32);
	__type(value, struct tc_slot);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, TC_SLOT_CHUNKS);
	__type(key, __u32);
	__array(values, struct chunk_of_slots);
} slot_chunks SEC(".maps");

/* Index: cpu * TC_CHUNK_STATS + stat. After those of all CPUs come the accounts, TC_PACKED_ACCOUNTS in each place. */
struct chunk_of_stats {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tc_stat);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, TC_STAT_CHUNKS);
	__type(key, __u32);
	__array(values, struct chunk_of_stats);
} stat_chunks SEC(".maps");

/*
 * The tables of counts, sums and times by keys. Each is the only element of a map of maps, into which user space
 * puts it when a spec first needs it, because making one takes as long as loading the programs. User space sets
 * the number of entries (daemon/kernel/key_tables.h).
 */
struct counts_table {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1);
	__type(key, struct tc_key);
	__type(value, __u64);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct counts_table);
} counts SEC(".maps");

struct sums_table {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1);
	__type(key, struct tc_key);
	__type(value, struct tc_sum);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct sums_table);
} sums SEC(".maps");

/* User space clears the flag if the entries of all CPUs are not too large (daemon/kernel/key_tables.cpp). */
struct times_table {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct tc_key);
	__type(value, struct tc_time);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct times_table);
} times SEC(".maps");

static const volatile __u32 only_place;

/* Null until a spec needs the table. */
#define table_in(tables) bpf_map_lookup_elem(&(tables), (const void *)&only_place)

struct text_key {
	__u32 session;
	char bytes[TC_STR_LEN];
};

/*
 * Strings in keys, for each session its own, numbered from 1. User space removes those of a deleted session, and
 * all of them when no hook has such keys.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TC_MAX_KEYS);
	__type(key, struct text_key);
	__type(value, __u32);
} texts SEC(".maps");

/* Numbers of the paths of calls. User space removes paths when it removes texts; no number is reused. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TC_MAX_PATHS);
	__type(key, struct tc_path);
	__type(value, __u64);
} paths SEC(".maps");

/*
 * Stacks in keys, by a number made of session, process, program and frames. User space removes them when it removes
 * texts.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TC_MAX_KEY_STACKS);
	__type(key, __u64);
	__type(value, struct tc_key_stack);
} key_stacks SEC(".maps");

/* By the number of the hook's counters; user space makes and deletes the entries. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TC_MAX_RATES);
	__type(key, __u32);
	__type(value, struct tc_rate);
} rates SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TC_MAX_SPECS);
	__type(key, __u32);
	__type(value, struct tc_spec);
} specs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TC_MAX_LAYOUTS);
	__type(key, __u32);
	__type(value, struct tc_layout);
} layouts SEC(".maps");

/* Index: session * cpu_count + cpu. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TC_MAX_SESSIONS);	/* times cpu_count, set before loading */
	__type(key, __u32);
	__type(value, struct tc_ring_loss);
} ring_losses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TC_MAX_SESSIONS);
	__type(key, __u32);
	__type(value, struct tc_session);
} sessions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TC_MAX_ACCOUNTS);
	__type(key, __u32);
	__type(value, struct tc_account);
} accounts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TC_MAX_SESSIONS * TC_MAX_TAGS);
	__type(key, __u32);
	__type(value, struct tc_tag);
} tags SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TC_OWN_TAGS);
	__type(key, __u32);
	__type(value, struct tc_own_tag);
} own_tags SEC(".maps");

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, TC_MAX_SESSIONS);	/* times cpu_count, set before loading */
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, TC_NOTICES_BYTES);
} notices SEC(".maps");

/* The set targets to which a process belongs, by thread group. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TC_MAX_PROCESSES);
	__type(key, __u32);
	__type(value, struct tc_member);
} members SEC(".maps");

/* The sets that their members keep when they execute this file. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TC_MAX_SET_TARGETS);
	__type(key, struct tc_executable);
	__type(value, struct tc_sets);
} families SEC(".maps");

/* The set targets that follow an executable. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TC_MAX_SET_TARGETS);
	__type(key, struct tc_executable);
	__type(value, __u32);
} executables SEC(".maps");

/* The set targets to which the processes in a cgroup belong, by its id. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TC_MAX_CGROUPS);
	__type(key, __u64);
	__type(value, struct tc_sets);
} cgroups SEC(".maps");

/* The sets to which a new cgroup with this parent and name will belong. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TC_MAX_SET_TARGETS);
	__type(key, struct tc_cgroup_name);
	__type(value, struct tc_sets);
} cgroup_names SEC(".maps");

/* The number of the listing (exec_listing) in which the executed file was reported. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TC_MAX_TOLD_EXECS);
	__type(key, struct tc_told_exec);
	__type(value, __u32);
} reported_execs SEC(".maps");

#endif
