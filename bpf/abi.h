/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The whole contract between the programs in the kernel and the engine in user space. Both sides
 * include this file; nothing of it is written down a second time.
 *
 * A hit finds its way like this:
 *
 *   cookie -> slot -> generation (picked by one load of the epoch) -> hooks of the sessions
 *
 * A *slot* is a site as it is armed for one filter (one process, or everybody). It holds two
 * generations of its settings; each is one cache line. A *hook* is what one session wants of the
 * slot. The first hook lies in the generation itself, further ones in the array `hooks`, linked
 * by index. Where several settings of a session are for one probe their hooks are a group, the last
 * staged first, and the first that is for the process takes the hit. User space writes a generation
 * and its hooks only while no program can read them.
 */
#ifndef TRACECTL_ABI_H
#define TRACECTL_ABI_H

#include <linux/types.h>

enum {
	TC_MAX_SLOTS = 65536,		/* slot 0 is never used */
	TC_MAX_HOOKS = 65536,		/* beyond the first of a slot; 0 is none */
	TC_MAX_HOOKS_OF_SLOT = 64,
	TC_MAX_STATS = 131072,		/* for each CPU; twice the slots, to read and zero them all */
	TC_MAX_KEYS = 65536,
	TC_MAX_LAYOUTS = 4096,		/* layout 0 has no arguments */
	TC_MAX_SESSIONS = 256,
	TC_MAX_ARGS = 12,
	TC_MAX_SET_TARGETS = 256,
	TC_MEMBER_WORDS = TC_MAX_SET_TARGETS / 64,
	TC_MAX_PROCESSES = 65536,	/* that belong to a set target */
	TC_COMM_LEN = 16,
};

/* What a hook does with a hit. */
enum tc_hook_flag {
	TC_COUNT_BY_PID = 1 << 0,
	TC_COUNT_BY_TID = 1 << 1,
	TC_EVENT = 1 << 2,
	TC_FIRST_OF_GROUP = 1 << 3,
};

struct tc_hook {
	__u32 flags;		/* enum tc_hook_flag */
	__u32 stat;		/* index of its counters */
	__u32 tgid;		/* the only process it is for; 0: the link's filter sees to it */
	__u16 set_target;	/* 1 + number of the set of processes it is for, or 0 */
	__u16 session;		/* whose rings take its records */
	__u32 layout;		/* where its arguments are found */
	__u32 source;		/* names probe and session in records; never reused while readable */
	__u32 next;		/* further hook of the same generation, or 0 */
	__u32 pad;
};

/* While a link replaces another at the slot (bpf/handover.bpf.h): of what kind the slot is. */
enum tc_handover {
	TC_NO_HANDOVER,
	TC_HANDOVER_OF_ONE,	/* armed in one process */
	TC_HANDOVER_OF_ALL,	/* armed in all that map the file */
};

struct tc_generation {
	__u64 link;		/* enum tc_handover << 32 | incarnation of the link that serves it */
	__u32 hook_count;	/* 0: disabled */
	__u32 pad[5];
	struct tc_hook first;
};

struct tc_slot {
	struct tc_generation generation[2];
};

/* Counters of one hook on one CPU, written with atomic adds: hits = recorded + dropped. */
struct tc_stat {
	__u64 hits;
	__u64 dropped_ring;	/* no room in the ring */
	__u64 dropped_keys;	/* no room for a new key */
	__u64 pad;
};

/* A count by process or thread; `stat` is the hook's. Parts not asked for are 0. */
struct tc_key {
	__u32 stat;
	__u32 pid;
	__u32 tid;
};

enum tc_arg_place {
	TC_ARG_UNREADABLE,
	TC_ARG_CONSTANT,
	TC_ARG_REGISTER,
	TC_ARG_MEMORY,
};

/* Register numbers: those of the instruction set, then the address of the probed instruction. */
enum { TC_RIP = 16, TC_NO_REGISTER = 17 };

struct tc_arg {
	__u8 place;		/* enum tc_arg_place */
	__u8 size;		/* bytes: 1, 2, 4, 8 */
	__u8 base;		/* register number, or TC_NO_REGISTER */
	__u8 index;
	__u8 scale_shift;
	__u8 value_shift;	/* 8 for %ah and its like */
	__u8 pad[2];
	__s64 offset;		/* or the constant */
};

struct tc_layout {
	__u32 arg_count;
	__u32 pad;
	struct tc_arg args[TC_MAX_ARGS];
};

/* The processes a set target has; bit n of the words is set target n. */
struct tc_member {
	__u64 words[TC_MEMBER_WORDS];
};

/* An executable that a set target follows. `device` is the kernel's own dev_t. */
struct tc_executable {
	__u64 inode;
	__u32 device;
	__u32 pad;
};

enum tc_record_kind { TC_RECORD_HIT = 1 };

/* One hit in a ring. `args` has room for arg_room values; those past arg_count are 0. */
struct tc_record {
	__u64 ts_ns;		/* CLOCK_BOOTTIME, read after reserving */
	__u64 epoch;
	__u64 ring_dropped;	/* records this ring had no room for so far */
	__u32 source;
	__u32 pid;
	__u32 tid;
	__u16 kind;		/* enum tc_record_kind */
	__u8 arg_count;
	__u8 arg_room;
	__u16 arg_valid;	/* bit n: argument n could be read */
	__u16 pad;
	__u32 pad2;
	char comm[TC_COMM_LEN];
	__u64 args[];
};

/* What hits are to look at beside their slot; nothing most of the time. */
enum tc_attention {
	TC_WATCH_SWITCH = 1 << 0,	/* each CPU notes its first hit under the new epoch */
	TC_IGNORE_PROCESS = 1 << 1,	/* a hit by the process `ignored_pid` is nobody's */
};

/* The first hit of a CPU under an epoch, while switches are watched. */
struct tc_first_hit {
	__u64 epoch;
	__u64 ts_ns;		/* CLOCK_BOOTTIME */
	__u64 pad[6];
};

/* What a ring has lost, on its own cache line. */
struct tc_ring_loss {
	__u64 dropped;
	__u64 pad[7];
};

#ifdef __cplusplus
#define TC_ASSERT_SIZE(type, size) static_assert(sizeof(type) == (size))
#else
#define TC_ASSERT_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#endif

TC_ASSERT_SIZE(struct tc_hook, 32);
TC_ASSERT_SIZE(struct tc_generation, 64);
TC_ASSERT_SIZE(struct tc_slot, 128);
TC_ASSERT_SIZE(struct tc_stat, 32);
TC_ASSERT_SIZE(struct tc_key, 12);
TC_ASSERT_SIZE(struct tc_arg, 16);
TC_ASSERT_SIZE(struct tc_layout, 8 + 16 * TC_MAX_ARGS);
TC_ASSERT_SIZE(struct tc_member, 32);
TC_ASSERT_SIZE(struct tc_executable, 16);
TC_ASSERT_SIZE(struct tc_record, 64);
TC_ASSERT_SIZE(struct tc_first_hit, 64);
TC_ASSERT_SIZE(struct tc_ring_loss, 64);

#endif
