/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The whole contract between the programs in the kernel and the engine in user space. Both sides
 * include this file; nothing of it is written down a second time. It has three parts in files of
 * their own: bpf/abi_limits.h, bpf/abi_spec.h, bpf/abi_records.h.
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

#include "bpf/abi_limits.h"
#include "bpf/abi_records.h"
#include "bpf/abi_spec.h"

/* What a hook does with a hit. */
enum tc_hook_flag {
	TC_EVENT = 1 << 0,
	TC_OWNED = 1 << 1,	/* its session's owner may see only some processes, and has a quota */
	TC_CALL = 1 << 2,	/* its spec has to do at the return too */
	TC_GATED = 1 << 3,	/* in force only while its session's gate is open */
	TC_PAIR = 1 << 4,	/* it starts or ends what its spec measures from probe to probe */
	TC_IN_GRAPH = 1 << 5,	/* with TC_CALL: its calls are shown as parts of a graph */
	TC_WITHIN_GRAPH = 1 << 6,	/* takes hits only while a call of its session's graph is open */
	TC_COPY_STACK = 1 << 7,	/* a stack is copied, not walked by frame pointers */
	TC_FIRST_OF_GROUP = 1 << 8,
	TC_BY_CGROUP = 1 << 9,	/* its set is of cgroups, not of processes */
	TC_SERIAL_SHIFT = 10,	/* above: tells the hook from others that had its slot before */
};

struct tc_hook {
	__u32 flags;		/* enum tc_hook_flag */
	__u32 stat;		/* index of its counters */
	__u32 tgid;		/* the only process it is for; 0: the link's filter sees to it */
	__u16 set_target;	/* 1 + number of the set of processes it is for, or 0 */
	__u8 session;		/* whose rings take its records */
	/*
	 * Where the function has not set up its frame pointer: by how many words the return address
	 * lies above the stack pointer, plus 1. Else 0.
	 */
	__u8 words_below_caller;
	__u32 layout;		/* where its arguments are found */
	__u32 source;		/* names probe and session in records; never reused while readable */
	__u32 next;		/* further hook of the same generation, or 0 */
	__u32 spec;		/* its condition, values and aggregates; 0 if it has none */
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
	__u32 pushed;		/* bytes on the stack above the return address, at the site */
	__u32 moved;		/* bytes from the start of the function whose returns are seen to the site */
	__u32 pad[3];
	struct tc_hook first;
};

struct tc_slot {
	struct tc_generation generation[2];
};

/* Counters of one hook on one CPU, written with atomic adds. */
struct tc_stat {
	__u64 hits;
	__u64 filtered;		/* of them: not taken by condition, sample or limit */
	__u64 dropped_ring;	/* no room in the ring */
	__u64 dropped_keys;	/* no room for a new key of an aggregate */
	__u64 silenced;		/* of those taken: events of silent threads, not streamed */
};

/*
 * What an aggregate is kept by; `stat` is the hook's. Parts not asked for are 0, those whose bit of
 * `missing` is set could not be read. A text stands by its number in the map `texts`, a stack by that
 * in `key_stacks`, of which the lowest 8 bits are the session.
 */
struct tc_key {
	__u32 stat;
	__u8 aggregate;		/* its number in the spec */
	__u8 missing;		/* bit n: part n; TC_VALUE_MISSING */
	__u16 bucket;		/* of a histogram */
	__u64 part[TC_KEY_PARTS];
};

/*
 * Set in `missing`: the value could not be read, the call was left without returning, or nobody saw
 * how it went on. Such hits are counted, by the parts.
 */
enum { TC_VALUE_MISSING = 1 << 7, TC_CALL_UNWOUND = 1 << 6, TC_CALL_CUT = 1 << 5 };

enum { TC_NO_AGGREGATE = 255 };	/* of calls cut: they are those of a hook */

/*
 * A sum on one CPU. `high` and `low` begin as 0 and only grow: they are the greatest v and the
 * greatest ~v so far; where v is signed, its sign bit is inverted before.
 */
struct tc_sum {
	__u64 count;
	__u64 sum;
	__u64 high;
	__u64 low;
};

/* The time that calls took, in ns, on one CPU. */
struct tc_time {
	__u64 count;
	__u64 total;
	__u64 self;		/* of it: not in calls that the session follows as well */
	__u64 high;
	__u64 low;		/* ~least */
	__u64 buckets[TC_TIME_BUCKETS];	/* 0: 0 ns; n: from 2^(n-1) to below 2^n */
};

/*
 * A hit that waits for the end of its pair. Found by a tc_key whose `stat` is the pair's number, and whose `bucket`
 * its session.
 */
struct tc_start {
	__u64 began_ns;		/* CLOCK_BOOTTIME */
	__u32 pid, tid;
};

/* One of the pairs that took longest. */
struct tc_slow {
	__u64 duration_ns;
	__u64 ended_ns;		/* CLOCK_BOOTTIME */
	__u64 part[TC_KEY_PARTS];	/* as in tc_key; so is: */
	__u32 missing;
	__u32 from_pid, from_tid;
	__u32 to_pid, to_tid;
	__u32 pad;
};

/* Counters of a hook that is a side of a pair, for all CPUs. By the hook's `stat`. */
struct tc_pair_stat {
	__u64 started;		/* starts that were kept; */
	__u64 overwritten;	/*   of them: another with the same key came before the end */
	__u64 matched;		/* ends that found their start */
	__u64 unmatched;	/* ends that did not */
	__u64 unread;		/* hits whose key could not be read */
	__u64 dropped;		/* starts and ends for which there was no room, or whose place was busy */
	__u64 unlisted;		/* that might be among the slowest, but their place was busy */
	__u64 least_ns;		/* of the slowest, once there are as many as wanted; else 0 */
	__u64 sequence;		/* of changes below; odd while one is under way */
	__u32 wanted;		/* how many of the slowest; user space sets it */
	__u32 listed;
	struct tc_slow slowest[TC_MAX_SLOWEST];
};

/* How often a hook that samples or limits has been matched. */
struct tc_rate {
	__u64 matched;
	__u64 in_second;	/* seconds since boot << 32 | taken in that second */
};

/* Sets of processes; bit n is set target n. */
struct tc_sets {
	__u64 words[TC_MEMBER_WORDS];
};

/* A cgroup by its place: the id of the one above, and its own name. */
struct tc_cgroup_name {
	__u64 parent;
	char name[TC_CGROUP_NAME_LEN];
};

/* By session, a bit each. */
struct tc_proofs {
	__u64 words[TC_PROOF_WORDS];
};

/* The sets that a process belongs to, and of them those it hands on. */
struct tc_member {
	struct tc_sets of;
	struct tc_sets to_children;	/* to every child it forks */
	struct tc_sets to_next;		/* to the next one only, which hands them on to none */
	/* Sessions whose users have shown that they may read its memory. A fork has it, too; an exec ends it. */
	struct tc_proofs proven;
	__u64 proven_exec;		/* task_struct.self_exec_id, to which `proven` belongs */
};

/* An executable that a set target follows. `device` is the kernel's own dev_t. */
struct tc_executable {
	__u64 inode;
	__u32 device;
	__u32 pad;
};

/* A dynamic linker that is armed in one process. */
struct tc_linker {
	__u32 pid;	/* as the engine sees it */
	__u32 hears;	/* the next hit tells of itself, and zeroes this */
};

/* What has been told of: a file that was executed in a cgroup. */
struct tc_told_exec {
	struct tc_executable file;
	__u64 cgroup;
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

/*
 * The cookie of a site: incarnation of the link << 32 | slot. Of an instruction by which a function
 * leaves also, from bit 16 on: what of it.
 */
enum {
	TC_COOKIE_EXIT_SHIFT = 16,
	TC_EXIT_HAS_RETVAL = 1 << 0,	/* it is a return, no jump to another function */
	TC_EXIT_CONDITIONAL = 1 << 1,	/* a jump on a condition: */
	TC_EXIT_CONDITION_SHIFT = 4,	/*   its number (Intel SDM, Jcc) */
	TC_EXIT_LENGTH_SHIFT = 8,	/* of a jump by a distance: bytes of the instruction; else 0 */
	TC_EXIT_LENGTH_MASK = 15,
};

/* A user who may see what it could ptrace(2): the ids that all of a process's have to be. */
struct tc_owner {
	__u64 capabilities;	/* permitted to it; a process with any other is not seen */
	__u32 uid, gid;
	__u32 user_namespace;	/* its number */
	__u32 pad;
};

/* A session, as hits look at it, on its own cache line. */
struct tc_session {
	__u32 marks;		/* marks made under another number are over; 0: it makes none */
	__u32 is_open;		/* its gate */
	__u64 marks_lost;	/* for want of memory */
	__u32 has_own_tags;	/* it has armed the probe by which programs tell theirs */
	__u32 hears_of_dumps;	/* the next trigger asks for one, and zeroes this */
	struct tc_owner owner;	/* of hooks that are TC_OWNED; and: */
	__u32 account;		/*   of what that user's sessions stream together */
	__u32 unproven_processes;	/* that were left out, as nobody has proven that the user may see them */
	__u64 unproven_hits;	/*   and their hits */
	__u32 unproven_told;	/* of these processes, by notices; no more until user space has noted that in: */
	__u32 unproven_heard;
	__u64 pad[7];
};
#define TC_MOST_UNPROVEN_TOLD 64

/* A user's quota of events, on its own cache line. */
struct tc_account {
	__u64 events_per_second;
	__u64 in_second;	/* seconds since boot << 32 | streamed in that second */
	__u64 pad[6];
};

/* Tables of which every user has a share; their entries are made by hits. */
enum tc_table {
	TC_TABLE_COUNTS,
	TC_TABLE_SUMS,
	TC_TABLE_TIMES,
	TC_TABLE_TEXTS,
	TC_TABLE_KEY_STACKS,
	TC_TABLE_PATHS,
	TC_TABLE_STARTS,
	TC_TABLE_CALLERS,
	TC_TABLE_DEEP_BLOCKS,
	TC_TABLE_HELD_BLOCKS,
	TC_TABLES,
};

/*
 * How the entries of one table are shared out. An account takes what it needs beyond its share from the
 * rest while there is some: rest_used is the sum of what the accounts have beyond their shares.
 */
struct tc_room {
	__u32 share_of_root;	/* of account 0: root's and the group's */
	__u32 share_of_user;	/* of each other account */
	__u32 rest;		/* that anybody may use */
	__u32 rest_used;
	__u32 used[TC_MAX_ACCOUNTS];
};

/* What the programs tell the engine beside events, in the ring `notices`. */
enum tc_notice_kind {
	TC_NOTICE_DUMP,		/* a hit asks for what a session's flight recorder holds */
	TC_NOTICE_CRASH,	/* a process was ended by a signal */
	TC_NOTICE_EXEC,		/* a process in a cgroup that is followed executes a file */
	TC_NOTICE_MAPPED,	/* the dynamic linker of a process has mapped libraries, or is about to */
	TC_NOTICE_JOINED,	/* a process that was forked or executes a file is of sets in `hearing` */
	TC_NOTICE_UNPROVEN,	/* a process was left out of a session, as nobody has proven that its user may see it */
};

struct tc_notice {
	__u64 ts_ns;		/* CLOCK_BOOTTIME */
	__u32 kind;		/* enum tc_notice_kind */
	__u32 pid;		/* as the engine sees it */
	char comm[TC_COMM_LEN];	/* of the process's first thread */
	/* Of a dump, and of a process that was left out. */
	__u32 session;		/* whose recorder; that it was left out of */
	__u32 asking_session;
	/* Of a crash. */
	__u32 exit_code;	/* as wait(2) has it */
	__u32 own_pid;		/* in the process's own namespace */
	__u32 initial_pid;	/* in the initial one */
	__u32 is_hidden;	/* from every user: its ids were not one, or it was not dumpable */
	struct tc_owner as;	/* whom it ran as, by its real ids */
	struct tc_sets of;	/* sets that the process belonged to; of one that has joined: those that hear of it */
	/* Of an exec. */
	struct tc_executable file;
};
#define TC_NOTICES_BYTES 65536

/* A descriptor of the engine's that is /proc/PID/mem of a process as it is now: what `see_memory` writes. */
struct tc_memory {
	__u32 fd;
	__u32 pid;		/* as the engine sees it */
	__u32 initial_pid;	/* in the initial namespace */
};

/*
 * What a program says of a thread's tag: struct tracectl_tag_state_ of <tracectl/tag.h>. In the
 * program's memory, and changed by that thread alone.
 */
struct tc_own_tag_state {
	__u64 check;		/* TC_OWN_TAG_CHECK and its address, exclusive or: it is one, still */
	__u64 serial;		/* of its changes */
	char texts[2][TC_OWN_TAG_LEN];	/* that of serial % 2, which ends with a 0; empty: none */
};
#define TC_OWN_TAG_CHECK 0x7472616365637467ULL

/* Set in the numbers of threads' own tags. */
#define TC_OWN_TAG (1U << 31)
enum {
	TC_NO_OWN_TAG = 1,	/* instead of such a number */
	TC_BEING_WRITTEN = 2,
};

/* An own tag that a record has, by its number % TC_OWN_TAGS. */
struct tc_own_tag {
	__u32 number;		/* with TC_OWN_TAG; 0: none yet */
	__u32 pad;
	char text[TC_OWN_TAG_LEN];
};

/* What a session has marked a thread with. */
struct tc_mark {
	__u32 under;		/* tc_session.marks at that time */
	__u16 tag;		/* number, or 0 */
	__u16 silent;
};

/* A tag, by session * TC_MAX_TAGS + number; what is behind its end is 0. */
struct tc_tag {
	char bytes[TC_TAG_LEN];
};

/* What a ring has lost, on its own cache line. */
struct tc_ring_loss {
	__u64 dropped;
	/* The reader's, for the one that comes after it: */
	__u64 told;		/* of those dropped */
	__u64 seen_ns;		/* what is dropped and not told was not dropped before */
	__u64 untold;		/* of the first CPU's: events that no reader of the session has got */
	__u64 pad[4];
};

TC_ASSERT_SIZE(struct tc_hook, 32);
TC_ASSERT_SIZE(struct tc_generation, 64);
TC_ASSERT_SIZE(struct tc_slot, 128);
TC_ASSERT_SIZE(struct tc_stat, 40);
TC_ASSERT_SIZE(struct tc_key, 32);
TC_ASSERT_SIZE(struct tc_sum, 32);
TC_ASSERT_SIZE(struct tc_time, 40 + 8 * TC_TIME_BUCKETS);
TC_ASSERT_SIZE(struct tc_rate, 16);
TC_ASSERT_SIZE(struct tc_start, 16);
TC_ASSERT_SIZE(struct tc_slow, 64);
TC_ASSERT_SIZE(struct tc_pair_stat, 80 + 64 * TC_MAX_SLOWEST);
TC_ASSERT_SIZE(struct tc_sets, 32);
TC_ASSERT_SIZE(struct tc_cgroup_name, 136);
TC_ASSERT_SIZE(struct tc_proofs, 32);
TC_ASSERT_SIZE(struct tc_member, 136);
TC_ASSERT_SIZE(struct tc_linker, 8);
TC_ASSERT_SIZE(struct tc_executable, 16);
TC_ASSERT_SIZE(struct tc_first_hit, 64);
TC_ASSERT_SIZE(struct tc_owner, 24);
TC_ASSERT_SIZE(struct tc_session, 128);
TC_ASSERT_SIZE(struct tc_account, 64);
TC_ASSERT_SIZE(struct tc_room, 16 + 4 * TC_MAX_ACCOUNTS);
TC_ASSERT_SIZE(struct tc_notice, 128);
TC_ASSERT_SIZE(struct tc_memory, 12);
TC_ASSERT_SIZE(struct tc_mark, 8);
TC_ASSERT_SIZE(struct tc_tag, 16);
TC_ASSERT_SIZE(struct tc_own_tag_state, 80);
TC_ASSERT_SIZE(struct tc_own_tag, 40);
TC_ASSERT_SIZE(struct tc_ring_loss, 64);

#endif
