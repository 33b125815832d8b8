/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The whole contract between the programs in the kernel and the engine in user space. Both sides
 * include this file, and nothing in it is repeated elsewhere. Five parts are in files of their own:
 * bpf/abi_limits.h, bpf/abi_costs.h, bpf/abi_emulation.h, bpf/abi_spec.h, bpf/abi_records.h.
 *
 * A hit is resolved like this:
 *
 *   cookie -> slot -> generation (picked by one load of the epoch) -> hooks of the sessions
 *
 * A *slot* is a site as it is armed for one filter (one process, or all). It has two generations of
 * its settings; each is one cache line. A *hook* is the setting of one session at the slot. The first
 * hook lies in the generation itself, further ones in chunks of hooks, linked by number. If a
 * session has several settings for one probe, their hooks are a group in which the last staged comes
 * first; the first one that is for the process takes the hit. User space writes a generation and its
 * hooks only while no program can read them.
 */
#ifndef TRACECTL_ABI_H
#define TRACECTL_ABI_H

#include "bpf/abi_costs.h"
#include "bpf/abi_emulation.h"
#include "bpf/abi_limits.h"
#include "bpf/abi_records.h"
#include "bpf/abi_spec.h"

/* The actions and properties of a hook. */
enum tc_hook_flag {
	TC_EVENT = 1 << 0,
	TC_OWNED = 1 << 1,	/* its session's owner may see only some processes, and has a quota */
	TC_CALL = 1 << 2,	/* its spec acts at the return too */
	TC_GATED = 1 << 3,	/* in force only while its session's gate is open */
	TC_PAIR = 1 << 4,	/* its hits start or end the pairs that its spec measures */
	TC_IN_GRAPH = 1 << 5,	/* with TC_CALL: its calls are shown as parts of a graph */
	TC_WITHIN_GRAPH = 1 << 6,	/* takes hits only while a call of its session's graph is open */
	TC_COPY_STACK = 1 << 7,	/* a stack is copied, not walked by frame pointers */
	TC_FIRST_OF_GROUP = 1 << 8,
	TC_BY_CGROUP = 1 << 9,	/* its set is of cgroups, not of processes */
	TC_BY_GOROUTINE = 1 << 10,	/* with TC_CALL: its calls are those of goroutines, not of threads */
	TC_SERIAL_SHIFT = 11,	/* above: tells the hook from earlier ones of its slot */
};

struct tc_hook {
	__u32 flags;		/* enum tc_hook_flag */
	__u32 stat;		/* index of its counters */
	__u32 tgid;		/* the only process it is for; 0: not one process */
	__u16 set_target;	/* 1 + number of the set of processes it is for, or 0 */
	__u8 session;		/* its records go into this session's rings */
	/*
	 * If the function has not set up its frame pointer: 1 + the number of words by which the
	 * return address lies above the stack pointer (on aarch64 1: the address is in x30).
	 * Otherwise 0.
	 */
	__u8 words_below_caller;
	__u32 layout;		/* number of its tc_layout, which locates its arguments */
	__u32 source;		/* names probe and session in records; never reused while readable */
	__u32 next;		/* further hook of the same generation, or 0 */
	__u32 spec;		/* its condition, values and aggregates; 0 if it has none */
};

/* The kind of a slot at which one link replaces another (bpf/handover.bpf.h). */
enum tc_handover {
	TC_NO_HANDOVER,
	TC_HANDOVER_OF_ONE,	/* armed in one process */
	TC_HANDOVER_OF_ALL,	/* armed in all processes that map the file */
};

struct tc_generation {
	__u64 link;		/* enum tc_handover << 32 | incarnation of the link that serves it */
	__u32 hook_count;	/* 0: disabled */
	__u32 pushed;		/* bytes on the stack above the return address, at the site */
	__u32 moved;		/* bytes from the start of the followed function to the site */
	__u32 cost;		/* enum tc_cost_class of the site */
	__u32 pad[2];
	struct tc_hook first;
};

struct tc_slot {
	struct tc_generation generation[2];
};

/* Counters of one hook on one CPU, written with atomic adds. */
struct tc_stat {
	__u64 hits;
	__u64 filtered;		/* hits that the condition, sample or limit did not take */
	__u64 dropped_ring;	/* no room in the ring */
	__u64 dropped_keys;	/* no room for a new key of an aggregate */
	__u64 silenced;		/* taken hits of silent threads, whose events are not streamed */
};

/* The accounts to which entries under the numbers of counters are charged, in the place of a struct tc_stat. */
struct tc_packed_accounts {
	__u8 of[TC_PACKED_ACCOUNTS];
	__u64 pad;
};

/*
 * The key of an aggregate's entry; `stat` is the hook's. Unused parts are 0; parts whose bit in
 * `missing` is set could not be read. A text is represented by its number in the map `texts`, a stack
 * by its number in `key_stacks`, of which the lowest 8 bits are the session.
 */
struct tc_key {
	__u32 stat;
	__u8 aggregate;		/* its number in the spec */
	__u8 missing;		/* bit n: part n; TC_VALUE_MISSING and the like */
	__u16 bucket;		/* of a histogram */
	__u64 part[TC_KEY_PARTS];
};

/*
 * Set in `missing`: the value could not be read, the call ended without returning, or its end was not
 * observed. Such hits are counted by the parts.
 */
enum { TC_VALUE_MISSING = 1 << 7, TC_CALL_UNWOUND = 1 << 6, TC_CALL_CUT = 1 << 5 };

enum { TC_NO_AGGREGATE = 255 };	/* in the key of a hook's cut calls */

/*
 * A sum on one CPU. `high` and `low` begin as 0 and only grow: they are the greatest v and the
 * greatest ~v so far. The sign bit of a signed v is inverted before.
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
	__u64 self;		/* the part outside of inner calls that the session follows */
	__u64 probes;		/* taken by probes within the calls; in none of the others */
	__u64 high;
	__u64 low;		/* ~(the least) */
	__u64 split;		/* calls whose parts are known; their sums: */
	__u64 running;
	__u64 runnable;
	__u64 blocked;
	__u64 buckets[TC_TIME_BUCKETS];	/* 0: 0 ns; n: from 2^(n-1) to below 2^n */
};

/* What a thread has been off its CPUs until some moment: bpf/off_cpu.bpf.h. */
struct tc_off_cpu {
	__u64 blocked_ns, runnable_ns;
	__u64 unseen;	/* how often it has left a CPU without being followed, or TC_NOT_SPLIT */
};

#define TC_NOT_SPLIT (~0ULL)	/* nobody asks for the parts of this time */

/*
 * A hit that waits for the end of its pair. In its tc_key `stat` is the pair's number, and `bucket` the session.
 */
struct tc_start {
	__u64 began_ns;		/* CLOCK_BOOTTIME */
	__u32 pid, tid;
	__u64 born_ns;		/* of the thread */
	struct tc_off_cpu off_cpu;
};

/* One of the longest pairs. */
struct tc_slow {
	__u64 duration_ns;
	__u64 ended_ns;		/* CLOCK_BOOTTIME */
	__u64 part[TC_KEY_PARTS];	/* as in tc_key, like the next member */
	__u32 missing;
	__u32 from_pid, from_tid;
	__u32 to_pid, to_tid;
	__u32 pad;
};

/* Counters of a hook that is a side of a pair, for all CPUs. By the hook's `stat`. */
struct tc_pair_stat {
	__u64 started;		/* starts that were kept */
	__u64 overwritten;	/* starts that another one with the same key replaced before the end */
	__u64 matched;		/* ends that found their start */
	__u64 unmatched;	/* ends that did not */
	__u64 unread;		/* hits whose key could not be read */
	__u64 dropped;		/* starts and ends that found no room, or a busy lock */
	__u64 unlisted;		/* pairs that may be among the slowest, but the list was busy */
	__u64 least_ns;		/* the shortest of the slowest, once there are `wanted`; else 0 */
	__u64 sequence;		/* of changes below; odd during a change */
	__u32 wanted;		/* length of the list of the slowest; user space sets it */
	__u32 listed;
	struct tc_slow slowest[TC_MAX_SLOWEST];
};

/* The counters of a hook with a sample or limit. */
struct tc_rate {
	__u64 matched;
	__u64 in_second;	/* seconds since boot << 32 | taken in that second */
};

/* Sets of processes; bit n is set target n. */
struct tc_sets {
	__u64 words[TC_MEMBER_WORDS];
};

/* A cgroup by the id of its parent and its own name. */
struct tc_cgroup_name {
	__u64 parent;
	char name[TC_CGROUP_NAME_LEN];
};

/* One bit for each session. */
struct tc_proofs {
	__u64 words[TC_PROOF_WORDS];
};

/* The sets that a process belongs to, and those of them that its children inherit. */
struct tc_member {
	struct tc_sets of;
	struct tc_sets to_children;	/* inherited by every child */
	struct tc_sets to_next;		/* inherited by the next child only, and by none of its children */
	/* Sessions whose users have proven that they may read its memory. Children inherit it; an exec ends it. */
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
	__u32 listens;	/* the next hit sends a notice, and sets this to 0 */
};

/* A file that was executed in a cgroup, and for which a notice was sent. */
struct tc_told_exec {
	struct tc_executable file;
	__u64 cgroup;
};

/* Things that hits check besides their slot; usually none. */
enum tc_attention {
	TC_WATCH_SWITCH = 1 << 0,	/* each CPU notes its first hit under the new epoch */
	TC_IGNORE_PROCESS = 1 << 1,	/* hits by the process `ignored_pid` are ignored */
};

/* The first hit of a CPU under an epoch, while switches are watched. */
struct tc_first_hit {
	__u64 epoch;
	__u64 ts_ns;		/* CLOCK_BOOTTIME */
	__u64 pad[6];
};

/*
 * The cookie of a site: incarnation of the link << 32 | slot. The cookie of an exit, an instruction by
 * which a function ends, also describes it, between the two.
 */
enum {
	TC_COOKIE_EXIT_SHIFT = TC_SLOT_BITS,
	TC_COOKIE_LINK_SHIFT = 32,
	TC_EXIT_HAS_RETVAL = 1 << 0,	/* it is a return, no jump to another function */
	TC_EXIT_CONDITIONAL = 1 << 1,	/* a conditional jump: */
	TC_EXIT_CONDITION_SHIFT = 4,	/*   number of the condition (Intel SDM, Jcc) */
	TC_EXIT_LENGTH_SHIFT = 8,	/* of a relative jump: bytes of the instruction; else 0 */
	TC_EXIT_LENGTH_MASK = 15,
	TC_EXIT_BITS = 12,
};
TC_ASSERT(TC_EXIT_LENGTH_MASK << TC_EXIT_LENGTH_SHIFT < 1 << TC_EXIT_BITS, "an exit's bits");
TC_ASSERT(TC_COOKIE_EXIT_SHIFT + TC_EXIT_BITS <= TC_COOKIE_LINK_SHIFT, "a cookie's bits");

/* A user who may see the processes that it could ptrace(2): all ids of such a process are these. */
struct tc_owner {
	__u64 capabilities;	/* permitted to the user; a process with others is not seen */
	__u32 uid, gid;
	__u32 user_namespace;	/* its number */
	__u32 pad;
};

/* The state of a session that hits use, on its own cache line. */
struct tc_session {
	__u32 marks;		/* marks made under another number are void; 0: it makes none */
	__u32 is_open;		/* its gate */
	__u64 marks_lost;	/* not made for lack of memory */
	__u32 has_own_tags;	/* it has armed the probe by which programs announce their tags */
	__u32 listens_for_dumps;	/* the next trigger asks for a dump, and sets this to 0 */
	struct tc_owner owner;	/* of hooks that are TC_OWNED */
	__u32 account;		/* of all sessions of that owner: their quota of events */
	__u32 unproven_processes;	/* left out, because nobody proved that the user may see them */
	__u64 unproven_hits;	/* hits of these processes */
	__u32 unproven_reported;	/* of these processes: those for which notices were sent */
	__u32 unproven_seen;	/* of these notices: those that user space has noted */
	__u64 pad[7];
};
#define TC_MOST_UNPROVEN_REPORTED 64

/* A user's quota of events, on its own cache line. */
struct tc_account {
	__u64 events_per_second;
	__u64 in_second;	/* seconds since boot << 32 | events streamed in that second */
	__u64 pad[6];
};

/* Tables in which every user has a share; hits make their entries. */
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
 * The shares of one table. An account that needs more than its share takes entries from the rest while
 * there are some: rest_used is the sum of the accounts' entries beyond their shares.
 */
struct tc_room {
	__u32 share_of_root;	/* of account 0: root's and the group's */
	__u32 share_of_user;	/* of each other account */
	__u32 rest;		/* entries that any account may use */
	__u32 rest_used;
	__u32 used[TC_MAX_ACCOUNTS];
};

/* Ways in which processes end. */
struct tc_ends {
	__u64 signals;		/* bit SIGNAL - 1 */
	__u64 statuses[4];	/* bit STATUS % 64 of word STATUS / 64 */
};

/* Messages of the programs to the engine besides events, in the ring `notices`. */
enum tc_notice_kind {
	TC_NOTICE_DUMP,		/* a hit asks for a dump of a session's flight recorder */
	TC_NOTICE_END,		/* a process has ended in a way that is watched */
	TC_NOTICE_EXEC,		/* a process in a followed cgroup executes a file */
	TC_NOTICE_MAPPED,	/* the dynamic linker of a process has mapped libraries, or is about to */
	TC_NOTICE_JOINED,	/* a process joins sets in `hearing` by a fork or an exec */
	TC_NOTICE_UNPROVEN,	/* a process is left out of a session, because nobody proved that its user may see it */
};

struct tc_notice {
	__u64 ts_ns;		/* CLOCK_BOOTTIME */
	__u32 kind;		/* enum tc_notice_kind */
	__u32 pid;		/* as the engine sees it */
	char comm[TC_COMM_LEN];	/* of the process's first thread */
	/* For a dump, and for a process that is left out. */
	__u32 session;		/* with the recorder; from which the process is left out */
	__u32 asking_session;
	/* For an end. */
	__u32 exit_code;	/* as wait(2) returns it; where each thread exited alone, of the last one */
	__u32 own_pid;		/* in the process's own namespace */
	__u32 initial_pid;	/* in the initial one */
	__u32 is_hidden;	/* from every user: its ids differed, or it was not dumpable */
	struct tc_owner as;	/* its user, by its real ids */
	struct tc_sets of;	/* sets the process belonged to; for TC_NOTICE_JOINED the sets in `hearing` it joined */
	/* For an exec. */
	struct tc_executable file;
};
#define TC_NOTICES_BYTES 65536

/* The output of `see_memory`: a descriptor of the engine for /proc/PID/mem of a process that still has that memory. */
struct tc_memory {
	__u32 fd;
	__u32 pid;		/* as the engine sees it */
	__u32 initial_pid;	/* in the initial namespace */
};

/*
 * The tag that a program gave its thread: struct tracectl_tag_state_ of <tracectl/tag.h>. It is in the
 * program's memory, and only that thread changes it.
 */
struct tc_own_tag_state {
	__u64 check;		/* TC_OWN_TAG_CHECK ^ address of this struct, while it is valid */
	__u64 serial;		/* number of changes */
	char texts[2][TC_OWN_TAG_LEN];	/* texts[serial % 2] is the tag, which ends with a 0; empty: none */
};
#define TC_OWN_TAG_CHECK 0x7472616365637467ULL

/* Set in the numbers of threads' own tags. */
#define TC_OWN_TAG (1U << 31)
enum {
	TC_NO_OWN_TAG = 1,	/* instead of such a number: the thread has no tag */
	TC_BEING_WRITTEN = 2,
};

/* The text of a thread's own tag that records have. Index: number % TC_OWN_TAGS. */
struct tc_own_tag {
	__u32 number;		/* with the bit TC_OWN_TAG; 0: none yet */
	__u32 pad;
	char text[TC_OWN_TAG_LEN];
};

/* A session's mark on a thread. */
struct tc_mark {
	__u32 under;		/* tc_session.marks at that time */
	__u16 tag;		/* number, or 0 */
	__u16 silent;
};

/* A tag of a session. Index: session * TC_MAX_TAGS + number. The bytes after its end are 0. */
struct tc_tag {
	char bytes[TC_TAG_LEN];
};

/* The losses of a ring, on its own cache line. */
struct tc_ring_loss {
	__u64 dropped;
	/* The reader writes these for the reader of the next daemon: */
	__u64 reported;		/* of those dropped: reported */
	__u64 seen_ns;		/* unreported drops happened after this time */
	__u64 unreported;		/* for the first CPU: events that no reader of the session got */
	__u64 pad[4];
};

TC_ASSERT_SIZE(struct tc_hook, 32);
TC_ASSERT_SIZE(struct tc_generation, 64);
TC_ASSERT_SIZE(struct tc_slot, 128);
TC_ASSERT_SIZE(struct tc_stat, 40);
TC_ASSERT_SIZE(struct tc_packed_accounts, 40);
TC_ASSERT_SIZE(struct tc_key, 32);
TC_ASSERT_SIZE(struct tc_sum, 32);
TC_ASSERT_SIZE(struct tc_time, 80 + 8 * TC_TIME_BUCKETS);
TC_ASSERT_SIZE(struct tc_rate, 16);
TC_ASSERT_SIZE(struct tc_start, 48);
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
