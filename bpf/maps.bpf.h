/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The maps, and the words user space shares with the programs. */
#ifndef TRACECTL_MAPS_BPF_H
#define TRACECTL_MAPS_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"

/* Set before loading. */
const volatile __u32 cpu_count = 1;		/* rows of `stats`, columns of `rings` */
const volatile bool in_own_pid_namespace;	/* the engine is not in the initial one: */
const volatile __u64 pid_namespace_device;	/*   ids are those of this one */
const volatile __u64 pid_namespace_inode;

/* The number of switches; the lowest bit is the active generation. */
__u64 epoch;

__u32 attention;	/* enum tc_attention */
__u32 ignored_pid;	/* for TC_IGNORE_PROCESS; as the engine sees it */

/* Hooks in force at all slots, by generation: where there is none a hit need not find its slot. */
__u32 in_force[2];

__u32 last_text;	/* the greatest number in `texts` */
__u64 last_path;	/* the last number that `paths` was given */
__u32 last_own_tag;	/* the greatest number in `own_tags`, without TC_OWN_TAG */

struct tc_room rooms[TC_TABLES];

/* Whose entries those are that have a hook's counters in their key. User space sets it with the counters. */
__u8 account_of_stat[TC_MAX_STATS];

/* Whoever does not know it cannot make two stacks that get one number. Set before loading. */
const volatile __u64 key_stack_seed;

/* A reader that sleeps on its rings sets its word; the next record wakes it and clears the word. */
__u32 reader_sleeps;

/* For the record that is being written. */
static __always_inline __u64 wakeup_flag(void)
{
	if (!*(volatile __u32 *)&reader_sleeps)
		return BPF_RB_NO_WAKEUP;
	reader_sleeps = 0;
	return BPF_RB_FORCE_WAKEUP;
}

/* Not a map of its own: indexing costs less than a lookup. A generation is a cache line. */
struct tc_slot slots[TC_MAX_SLOTS] __attribute__((aligned(sizeof(struct tc_slot))));

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TC_MAX_HOOKS);
	__type(key, __u32);
	__type(value, struct tc_hook);
} hooks SEC(".maps");

/* Index: cpu. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);	/* cpu_count, set before loading */
	__type(key, __u32);
	__type(value, struct tc_first_hit);
} first_hits SEC(".maps");

/* Index: cpu * TC_MAX_STATS + stat. An array that is mapped is read without a system call. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TC_MAX_STATS);	/* times cpu_count, set before loading */
	__type(key, __u32);
	__type(value, struct tc_stat);
} stats SEC(".maps");

/*
 * The tables of counts, sums and times by keys, each in a map of its own, where user space puts it when a
 * spec first needs it: to make one takes as long as to load the programs. How many entries it has is not said
 * here but there (daemon/kernel/key_tables.h).
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

/* User space takes the flag off where the entries of all CPUs are not too large (daemon/kernel/key_tables.cpp). */
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

/* Null as long as no spec has needed it. */
#define table_in(tables) bpf_map_lookup_elem(&(tables), (const void *)&only_place)

struct text_key {
	__u32 session;
	char bytes[TC_STR_LEN];
};

/*
 * Strings that keys have, of each session its own, numbered from 1. User space takes out those of a session that
 * is deleted, and all when no hook has such keys.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TC_MAX_KEYS);
	__type(key, struct text_key);
	__type(value, __u32);
} texts SEC(".maps");

/* Paths of calls, by their numbers. They go when the texts do; no number is given twice. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TC_MAX_PATHS);
	__type(key, struct tc_path);
	__type(value, __u64);
} paths SEC(".maps");

/* Stacks that keys have, by a number made of session, process, program and frames. They go when the texts do. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TC_MAX_KEY_STACKS);
	__type(key, __u64);
	__type(value, struct tc_key_stack);
} key_stacks SEC(".maps");

/* By the hook's counters; user space makes and deletes them. */
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

/* By thread group: which set targets it belongs to. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TC_MAX_PROCESSES);
	__type(key, __u32);
	__type(value, struct tc_member);
} members SEC(".maps");

/* The sets that a process of which it has them keeps when it executes this file. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TC_MAX_SET_TARGETS);
	__type(key, struct tc_executable);
	__type(value, struct tc_sets);
} families SEC(".maps");

/* Which set target follows an executable. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TC_MAX_SET_TARGETS);
	__type(key, struct tc_executable);
	__type(value, __u32);
} executables SEC(".maps");

/* By the id of a cgroup: which set targets the processes in it belong to. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TC_MAX_CGROUPS);
	__type(key, __u64);
	__type(value, struct tc_sets);
} cgroups SEC(".maps");

/* The sets that a cgroup is to belong to when one is made there under this name. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TC_MAX_SET_TARGETS);
	__type(key, struct tc_cgroup_name);
	__type(value, struct tc_sets);
} cgroup_names SEC(".maps");

/* In which listing of files that are executed it was told of (exec_listing). */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TC_MAX_TOLD_EXECS);
	__type(key, struct tc_told_exec);
	__type(value, __u32);
} told_execs SEC(".maps");

#endif
