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
	TC_MAX_KEYS = 65536,		/* of counts and histograms; as many of sums, and of texts */
	TC_MAX_KEY_STACKS = 16384,
	TC_MAX_SPECS = 1024,		/* with code; 0 is none */
	TC_MAX_RATES = 65536,
	TC_MAX_LAYOUTS = 4096,		/* layout 0 has no arguments */
	TC_MAX_SESSIONS = 256,
	TC_MAX_TAGS = 256,		/* of a session, by number, which is a byte; 0 is no tag */
	TC_TAG_LEN = 16,
	TC_MAX_TRIGGERS = 4,		/* of a spec */
	TC_MAX_ARGS = 12,
	TC_MAX_SET_TARGETS = 256,
	TC_MEMBER_WORDS = TC_MAX_SET_TARGETS / 64,
	TC_MAX_PROCESSES = 65536,	/* that belong to a set target */
	TC_COMM_LEN = 16,
	TC_MAX_INSNS = 64,		/* of one expression */
	TC_REGISTERS = 8,		/* of the machine that runs it */
	TC_TEXT_LEN = 63,		/* bytes of a text in an expression */
	TC_STR_LEN = 64,		/* bytes that str(E) gives at most, without a byte 0 behind them */
	TC_SPEC_INSNS = 256,		/* of all expressions of a spec */
	TC_MAX_TERM_INSNS = 6,		/* of a condition of terms */
	TC_SPEC_TEXTS = 16,
	TC_MAX_VALUES = 12,
	TC_MAX_AGGREGATES = 8,
	TC_KEY_PARTS = 3,
	TC_MAX_RECORD_WORDS = TC_MAX_VALUES * TC_STR_LEN / 8,
	TC_MAX_CALLERS = 16384,		/* threads, times the sessions that follow their calls */
	TC_MAX_DEPTH = 128,		/* calls open in a thread for one session */
	TC_MAX_TRAMPOLINES = 64,	/* of one thread: the kernel's own bound */
	TC_CALL_ARGS = 6,		/* arguments that are kept for the return, the first */
	TC_MAX_TIMES = 16384,		/* keys of `time` */
	TC_TIME_BUCKETS = 65,
	TC_FEW_FRAMES = 32,		/* of a stack; what is asked for beyond takes room for most */
	TC_MOST_FRAMES = 127,
	TC_STACK_CHUNK = 512,		/* bytes; no chunk that begins at a multiple crosses a page */
	TC_STACK_CHUNKS = 32,		/* that are copied of a stack */
	TC_RED_ZONE = 128,		/* bytes below the stack pointer that a function may use */
	TC_MAX_STARTS = 65536,		/* of all pairs, that wait for their ends */
	TC_MAX_PAIR_HOOKS = 8192,
	TC_MAX_SLOWEST = 32,		/* that are kept of each hook; a power of two */
};

/* What a hook does with a hit. */
enum tc_hook_flag {
	TC_EVENT = 1 << 0,
	TC_FIRST_OF_GROUP = 1 << 1,
	TC_CALL = 1 << 2,	/* its spec has to do at the return too */
	TC_GATED = 1 << 3,	/* in force only while its session's gate is open */
	TC_PAIR = 1 << 4,	/* it starts or ends what its spec measures from probe to probe */
	TC_COPY_STACK = 1 << 7,	/* a stack is copied, not walked by frame pointers */
	TC_SERIAL_SHIFT = 8,	/* above: tells the hook from others that had its slot before */
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
	__u32 pad[4];
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
 * in `key_stacks`.
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

/* A hit that waits for the end of its pair. Found by a tc_key whose `stat` is the pair's number. */
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

/* Sets of processes; bit n is set target n. */
struct tc_sets {
	__u64 words[TC_MEMBER_WORDS];
};

/* The sets that a process belongs to, and of them those it hands on. */
struct tc_member {
	struct tc_sets of;
	struct tc_sets to_children;	/* to every child it forks */
	struct tc_sets to_next;		/* to the next one only, which hands them on to none */
};

/* An executable that a set target follows. `device` is the kernel's own dev_t. */
struct tc_executable {
	__u64 inode;
	__u32 device;
	__u32 pad;
};

/*
 * The code of an expression. The machine has TC_REGISTERS registers of 64 bits, which hold nothing
 * at first: code writes one before it reads it. Code moves forward only, every skip lands within
 * it, and every way through it ends with TC_OP_RETURN. Operands that are no registers are loaded by
 * the instruction that uses them, because each instruction costs.
 *
 * Running fails where memory cannot be read and where something is divided by 0. A condition that
 * failed does not hold; a value that failed is none.
 */
enum tc_source {
	TC_FROM_REGISTER,	/* the only ones of operand b: this and the next */
	TC_FROM_IMMEDIATE,
	TC_FROM_ARG,		/* argument number a, its upper bits 0 */
	TC_FROM_ARG_SIGNED,	/* the same, its sign extended from its size in the layout */
	TC_FROM_PID,
	TC_FROM_TID,
	TC_FROM_UID,
	TC_FROM_CPU,
	TC_FROM_CGROUP,
	TC_FROM_TS,		/* ns, CLOCK_BOOTTIME */
	TC_FROM_RETVAL,		/* a: its size in bytes, | TC_RETVAL_SIGNED; at the return only, as: */
	TC_FROM_DURATION,	/* ns */
	TC_SOURCES,
};

enum { TC_RETVAL_SIGNED = 1 << 7 };

/* How the numbers a and b stand to each other. */
enum tc_relation {
	TC_LESS = 1 << 0,
	TC_EQUAL = 1 << 1,
	TC_GREATER = 1 << 2,
};

/*
 * _S and _U: signed or unsigned, where that differs. _SU: a is signed and b unsigned, and they are
 * compared as the numbers they stand for. Arithmetic wraps; INT64_MIN / -1 is INT64_MIN and
 * INT64_MIN % -1 is 0.
 */
enum tc_op {
	TC_OP_RETURN,		/* ends with a */
	TC_OP_MOVE,		/* to = a */

	TC_OP_ADD,		/* to = a + b, and so on */
	TC_OP_SUB,
	TC_OP_MUL,
	TC_OP_DIV_S,		/* fails where b is 0 */
	TC_OP_DIV_U,
	TC_OP_MOD_S,
	TC_OP_MOD_U,
	TC_OP_AND,
	TC_OP_OR,
	TC_OP_XOR,
	TC_OP_SHL,		/* by b & 63 */
	TC_OP_SHR_S,
	TC_OP_SHR_U,

	TC_OP_READ_U8,		/* to = user memory at the address a, extended to 64 bits */
	TC_OP_READ_S8,
	TC_OP_READ_U16,
	TC_OP_READ_S16,
	TC_OP_READ_U32,
	TC_OP_READ_S32,
	TC_OP_READ_U64,

	TC_OP_SKIP,		/* leaves out the next `skip` instructions; so do all that follow */

	TC_OP_SKIP_UNLESS_S,	/* unless a stands to b as one bit of `to` says, enum tc_relation */
	TC_OP_SKIP_UNLESS_U,
	TC_OP_SKIP_UNLESS_SU,

	/*
	 * The string compared is named by b, enum tc_text_of. Of a string in user memory a is the
	 * address (never an immediate), and it ends before its first byte 0, or after `to` bytes.
	 * `immediate` is the index of the text; b_from is TC_FROM_REGISTER and means nothing.
	 */
	TC_OP_SKIP_UNLESS_TEXT_EQ,
	TC_OP_SKIP_UNLESS_TEXT_NE,
	TC_OP_SKIP_UNLESS_TEXT_LIKE,	/* the text is a glob */
	TC_OP_SKIP_UNLESS_TEXT_UNLIKE,
	TC_OPS,
};

enum tc_text_of {
	TC_TEXT_COMM,		/* the thread's name; a_from and a mean nothing */
	TC_TEXT_USER,
	TC_TEXT_TAG,		/* the thread's tag; a_from and a mean nothing */
};

struct tc_insn {
	__u8 op;		/* enum tc_op */
	__u8 to;		/* register; relations; of a text the most bytes, at most TC_STR_LEN */
	__u8 a_from;		/* enum tc_source */
	__u8 a;			/* number of the register or argument */
	__u8 b_from;		/* enum tc_source; a and b are not both immediate */
	__u8 b;			/* number of the register */
	__u16 skip;
	__s64 immediate;
};

/* A text in an expression: what a string is compared with. */
struct tc_text {
	__u8 length;
	char bytes[TC_TEXT_LEN];
};

enum tc_value_kind {
	TC_VALUE_OPERAND,	/* an enum tc_source other than a register or an immediate */
	TC_VALUE_CODE,
	TC_VALUE_COMM,
	TC_VALUE_STR,		/* the string at the address that the code gives */
	TC_VALUE_TAG,
	TC_VALUE_STACK,		/* of a key: `a` frames at most by frame pointers, the innermost left
				   out if `from` is 1 */
	TC_VALUE_BYTES,		/* most_bytes of them, at the address that the code gives */
};

/* A value of a record, of an aggregate, or a key. */
struct tc_value {
	__u8 kind;		/* enum tc_value_kind */
	__u8 from;		/* of an operand: enum tc_source */
	__u8 a;			/*   and its number */
	__u8 most_bytes;	/* of a string, at most TC_STR_LEN; of bytes their number */
	__u32 code;		/* first instruction */
};

enum tc_aggregate_kind {
	TC_COUNT,
	TC_SUM,			/* also average, least and greatest */
	TC_HIST,		/* bucket 0: below 0; 1: 0; n: from 2^(n-2) to below 2^(n-1) */
	TC_LHIST,		/* bucket 0: below min; n: min + (n-1) * step and on; the last: max and on */
	TC_TIME,		/* of calls; it has no value */
};

struct tc_aggregate {
	__u8 kind;		/* enum tc_aggregate_kind */
	__u8 is_unsigned;	/* its value is */
	__u8 key_count;
	__u8 at_return;
	__u8 pad[4];
	struct tc_value value;
	struct tc_value keys[TC_KEY_PARTS];
	__s64 min, max;
	__u64 step;
};

/* What of a spec is for the return of a call. */
enum tc_at_return {
	TC_CONDITION_AT_RETURN = 1 << 0,	/* and with it sample and limit */
	TC_EVENT_AT_RETURN = 1 << 1,		/* instead of the hit's */
	TC_RETURN_EVENT = 1 << 2,		/* beside it */
	TC_KEEP_ARGS = 1 << 3,
};

enum tc_condition_kind {
	TC_NO_CONDITION,
	TC_CODE,
	/*
	 * At most TC_MAX_TERM_INSNS instructions: comparisons, but not of texts, of an argument, the
	 * process or the thread as a with an immediate, and returns of an immediate.
	 */
	TC_TERMS,
};

/* What a hit is to a pair of probes between which the time is measured. */
enum tc_pair_side {
	TC_PAIR_FROM = 1 << 0,
	TC_PAIR_TO = 1 << 1,	/* of both it ends what is open, and then starts anew */
};

/* What a hit that is taken does to its thread, as its session sees it. */
enum tc_effect {
	TC_SET_TAG = 1 << 0,
	TC_SILENCE = 1 << 1,	/* at most one of these two */
	TC_UNSILENCE = 1 << 2,
};

/* What a hit that is taken does to the gate of a session, its own or another. */
struct tc_trigger {
	__u16 session;
	__u16 opens;		/* or closes */
};

/*
 * What a hook does with a hit, where that takes more than its flags. Shared by hooks of one session,
 * immutable.
 */
struct tc_spec {
	struct tc_value condition;
	__u64 condition_kind;	/* enum tc_condition_kind */
	__u64 sample;		/* takes one hit in so many; 0: each */
	__u64 limit;		/* takes so many a second at most; 0: all */
	__u32 value_count;	/* of a record; 0: it has the arguments */
	__u32 value_words;	/* that they take: one, TC_STR_LEN / 8 for a text and for bytes */
	__u32 aggregate_count;
	__u32 at_return;	/* enum tc_at_return */
	__u32 stack_frames;	/* at most, of the stack that a record has; 0: it has none */
	__u16 session;
	__u16 effects;		/* enum tc_effect */
	__u32 tag;		/* its number in the session */
	__u32 trigger_count;
	struct tc_trigger triggers[TC_MAX_TRIGGERS];
	__u32 pair;		/* number of the pair it is a side of, never used again; or 0 */
	__u32 pair_sides;	/* enum tc_pair_side */
	struct tc_aggregate matched_by;	/* the keys by which ends find their starts; no more of it */
	struct tc_value values[TC_MAX_VALUES];
	struct tc_aggregate aggregates[TC_MAX_AGGREGATES];
	struct tc_text texts[TC_SPEC_TEXTS];
	struct tc_insn code[TC_SPEC_INSNS];
};

enum tc_record_kind {
	TC_RECORD_HIT = 1,
	TC_RECORD_RETURN,	/* two words come before its values: the return value, and the duration */
	TC_RECORD_UNWOUND,	/* the same, without a return value */
	TC_RECORD_LATENCY,	/* the same, of the end of a pair */
	TC_RECORD_KEY_STACK,	/* no hit: a stack that is a key for the first time */
};

enum tc_record_flag { TC_RECORD_HAS_RETVAL = 1 << 0 };

/* What a record has of the stack, behind its arguments. */
enum tc_stack_kind {
	TC_STACK_NONE,
	TC_STACK_FRAMES,	/* struct tc_frames */
	TC_STACK_COPY,		/* struct tc_stack_copy */
};

/* Why a walk along frame pointers came to its end. */
enum tc_walk_end {
	TC_WALK_OUTERMOST,	/* a frame pointer of 0 */
	TC_WALK_LIMIT,		/* there were as many as asked for */
	TC_WALK_UNREADABLE,	/* memory that a frame pointer leads to */
	TC_WALK_BAD_POINTER,	/* it does not lead up the stack */
};

/* Addresses follow: the probed one, then return addresses; those past `count` are 0. */
struct tc_frames {
	__u32 count;
	__u32 end;		/* enum tc_walk_end */
};

/* All registers and the stack above, for who unwinds it later. What could not be read is 0. */
struct tc_stack_copy {
	__u64 registers[17];	/* numbered as TC_RIP says */
	__u64 start;		/* address of the first byte */
	__u64 byte_count;	/* as many as could be read without a gap */
	__u8 bytes[TC_STACK_CHUNKS * TC_STACK_CHUNK];
};

/*
 * One hit in a ring. `args` has room for arg_room values, behind the words that its kind has there;
 * those past arg_count are 0.
 */
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
	__u8 flags;		/* enum tc_record_flag */
	__u8 tag;		/* of the thread; its number in the session */
	__u16 stack_kind;	/* enum tc_stack_kind */
	__u16 stack_words;	/* of 8 bytes, behind the arguments' room */
	char comm[TC_COMM_LEN];
	__u64 args[];
};

/*
 * A stack that keys have, as it is in a table and in a ring. The head is that of a tc_record, of which
 * only pid and kinds mean anything.
 */
struct tc_key_stack {
	__u64 head[sizeof(struct tc_record) / 8];
	struct tc_frames frames;
	__u64 address[TC_MOST_FRAMES];
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
};

/* A session, as hits look at it, on its own cache line. */
struct tc_session {
	__u32 marks;		/* marks made under another number are over; 0: it makes none */
	__u32 is_open;		/* its gate */
	__u64 marks_lost;	/* for want of memory */
	__u64 pad[6];
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
TC_ASSERT_SIZE(struct tc_stat, 40);
TC_ASSERT_SIZE(struct tc_key, 32);
TC_ASSERT_SIZE(struct tc_sum, 32);
TC_ASSERT_SIZE(struct tc_time, 40 + 8 * TC_TIME_BUCKETS);
TC_ASSERT_SIZE(struct tc_rate, 16);
TC_ASSERT_SIZE(struct tc_value, 8);
TC_ASSERT_SIZE(struct tc_aggregate, 64);
TC_ASSERT_SIZE(struct tc_start, 16);
TC_ASSERT_SIZE(struct tc_slow, 64);
TC_ASSERT_SIZE(struct tc_pair_stat, 80 + 64 * TC_MAX_SLOWEST);
TC_ASSERT_SIZE(struct tc_trigger, 4);
TC_ASSERT_SIZE(struct tc_spec, 88 + 64 + 8 * 12 + 64 * 8 + 64 * 16 + 16 * 256);
TC_ASSERT_SIZE(struct tc_arg, 16);
TC_ASSERT_SIZE(struct tc_layout, 8 + 16 * TC_MAX_ARGS);
TC_ASSERT_SIZE(struct tc_sets, 32);
TC_ASSERT_SIZE(struct tc_member, 96);
TC_ASSERT_SIZE(struct tc_executable, 16);
TC_ASSERT_SIZE(struct tc_insn, 16);
TC_ASSERT_SIZE(struct tc_text, 64);
TC_ASSERT_SIZE(struct tc_record, 64);
TC_ASSERT_SIZE(struct tc_frames, 8);
TC_ASSERT_SIZE(struct tc_key_stack, 64 + 8 + 8 * TC_MOST_FRAMES);
TC_ASSERT_SIZE(struct tc_stack_copy, 19 * 8 + 16384);
TC_ASSERT_SIZE(struct tc_first_hit, 64);
TC_ASSERT_SIZE(struct tc_session, 64);
TC_ASSERT_SIZE(struct tc_mark, 8);
TC_ASSERT_SIZE(struct tc_tag, 16);
TC_ASSERT_SIZE(struct tc_ring_loss, 64);

#endif
