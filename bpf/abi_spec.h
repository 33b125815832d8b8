/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The specs of settings, and the places of a probe's arguments. Part of bpf/abi.h. */
#ifndef TRACECTL_ABI_SPEC_H
#define TRACECTL_ABI_SPEC_H

#include "bpf/abi_limits.h"
#include "bpf/abi_machine.h"

enum tc_arg_place {
	TC_ARG_UNREADABLE,
	TC_ARG_CONSTANT,
	TC_ARG_REGISTER,
	TC_ARG_MEMORY,
};

struct tc_arg {
	__u8 place;		/* enum tc_arg_place */
	__u8 size;		/* bytes: 1, 2, 4, 8 */
	__u8 base;		/* register number (bpf/abi_machine.h), or TC_NO_REGISTER */
	__u8 index;
	__u8 scale_shift;
	__u8 value_shift;	/* 8 for %ah and the like */
	__u8 pad[2];
	__s64 offset;		/* or the constant; of a register it is added to the value */
};

struct tc_layout {
	__u32 arg_count;	/* of the probe; behind these are addresses that only expressions use */
	__u32 pad;
	struct tc_arg args[TC_MAX_ARGS];
};

/*
 * The code of an expression. The machine has TC_REGISTERS registers of 64 bits, which are undefined
 * at first: code writes one before it reads it. Code moves forward only, every skip lands within
 * it, and every path through it ends with TC_OP_RETURN. An instruction loads its operands itself if
 * they are not in registers, because each instruction costs time.
 *
 * Code fails if memory cannot be read or a divisor is 0. A condition that fails does not hold; a value
 * that fails is missing.
 */
enum tc_source {
	TC_FROM_REGISTER,	/* operand b has only this or the next */
	TC_FROM_IMMEDIATE,
	TC_FROM_ARG,		/* argument number a, its upper bits 0 */
	TC_FROM_ARG_SIGNED,	/* the same, its sign extended from its size in the layout */
	TC_FROM_PID,
	TC_FROM_TID,
	TC_FROM_UID,
	TC_FROM_CPU,
	TC_FROM_CGROUP,
	TC_FROM_TS,		/* ns, CLOCK_BOOTTIME */
	TC_FROM_STACK_BYTES,	/* of the thread's own stack in use; at the hit only */
	TC_FROM_RETVAL,		/* a: its size in bytes, | TC_RETVAL_SIGNED; at the return only */
	TC_FROM_DURATION,	/* ns; at the return only */
	TC_FROM_THROWN,		/* 1 if the call ended without returning, else 0; at its end only */
	TC_FROM_BLOCKED,	/* ns; at the end of a call with TC_SPLIT only, */
	TC_FROM_RUNNABLE,	/*   as this */
	TC_FROM_BLOCK,	/* ns; only as the value of an aggregate that is TC_AT_BLOCK */
	TC_SOURCES,
};

enum { TC_RETVAL_SIGNED = 1 << 7 };

/* The relation of the numbers a and b. */
enum tc_relation {
	TC_LESS = 1 << 0,
	TC_EQUAL = 1 << 1,
	TC_GREATER = 1 << 2,
};

/*
 * _S and _U: signed or unsigned, if that matters. _SU: a is signed and b unsigned, and their
 * mathematical values are compared. Arithmetic wraps; INT64_MIN / -1 is INT64_MIN and
 * INT64_MIN % -1 is 0.
 */
enum tc_op {
	TC_OP_RETURN,		/* ends with a */
	TC_OP_MOVE,		/* to = a */

	TC_OP_ADD,		/* to = a + b, and so on */
	TC_OP_SUB,
	TC_OP_MUL,
	TC_OP_DIV_S,		/* fails if b is 0 */
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

	TC_OP_SKIP,		/* skips the next `skip` instructions; so do all that follow */

	TC_OP_SKIP_UNLESS_S,	/* unless the relation of a to b is among the bits of `to`, enum tc_relation */
	TC_OP_SKIP_UNLESS_U,
	TC_OP_SKIP_UNLESS_SU,

	/*
	 * b selects the string that is compared, enum tc_text_of. For a string in user memory a is
	 * its address (never an immediate); it ends before its first byte 0, or after `to` bytes, see
	 * TC_STR_SIZED.
	 * `immediate` is the index of the text; b_from is TC_FROM_REGISTER and not used.
	 */
	TC_OP_SKIP_UNLESS_TEXT_EQ,
	TC_OP_SKIP_UNLESS_TEXT_NE,
	TC_OP_SKIP_UNLESS_TEXT_LIKE,	/* the text is a glob */
	TC_OP_SKIP_UNLESS_TEXT_UNLIKE,
	TC_OPS,
};

enum tc_text_of {
	TC_TEXT_COMM,		/* the thread's name; a_from and a are not used */
	TC_TEXT_USER,
	TC_TEXT_TAG,		/* the thread's tag; a_from and a are not used */
};

struct tc_insn {
	__u8 op;		/* enum tc_op */
	__u8 to;		/* register; relations; for a text its most bytes, up to
				   TC_STR_LEN, | TC_STR_SIZED */
	__u8 a_from;		/* enum tc_source */
	__u8 a;			/* number of the register or argument */
	__u8 b_from;		/* enum tc_source; a and b are not both immediate */
	__u8 b;			/* number of the register */
	__u16 skip;
	__s64 immediate;
};

/* A text in an expression, with which a string is compared. */
struct tc_text {
	__u8 length;
	char bytes[TC_TEXT_LEN];
};

enum tc_value_kind {
	TC_VALUE_OPERAND,	/* an enum tc_source other than a register or an immediate */
	TC_VALUE_CODE,
	TC_VALUE_COMM,
	TC_VALUE_STR,		/* the string at the address that the code returns */
	TC_VALUE_TAG,
	TC_VALUE_STACK,		/* in a key: at most `a` frames by frame pointers, without the
				   innermost if `from` is 1 */
	TC_VALUE_BYTES,		/* most_bytes of them, at the address that the code returns */
	TC_VALUE_PATH,		/* in a key: the number of the call's path, struct tc_path */
};

/*
 * A path to calls in graphs: the number of the path to the call around, 0 for none, and the source and the
 * session of the call's hook. Paths are numbered from 1.
 */
struct tc_path {
	__u64 around;
	__u32 source;
	__u32 session;
};

#define TC_NO_PATH (~0ULL)	/* there was no room for it */

/* A value of a record, of an aggregate, or a key. */
struct tc_value {
	__u8 kind;		/* enum tc_value_kind */
	__u8 from;		/* of an operand: enum tc_source */
	__u8 a;			/* of an operand: its number */
	__u8 most_bytes;	/* of a string, up to TC_STR_LEN, | TC_STR_SIZED; for bytes their
				   number */
	__u32 code;		/* first instruction */
};

enum tc_aggregate_kind {
	TC_COUNT,
	TC_SUM,			/* also average, least and greatest */
	TC_HIST,		/* bucket 0: below 0; 1: 0; n: from 2^(n-2) to below 2^(n-1) */
	TC_LHIST,		/* bucket 0: below min; n: from min + (n-1) * step; the last: from max */
	TC_TIME,		/* of calls; it has no value */
};

/* When an aggregate is added to. */
enum tc_aggregate_at {
	TC_AT_HIT,
	TC_AT_END,		/* of a call */
	TC_AT_BLOCK,		/* when a thread within a call runs again after it was blocked */
};

struct tc_aggregate {
	__u8 kind;		/* enum tc_aggregate_kind */
	__u8 is_unsigned;	/* its value is */
	__u8 key_count;
	__u8 at;		/* enum tc_aggregate_at */
	__u8 pad[4];
	struct tc_value value;
	struct tc_value keys[TC_KEY_PARTS];
	__s64 min, max;
	__u64 step;
};

/* The parts of a spec that apply to the return of a call. */
enum tc_at_return {
	TC_CONDITION_AT_RETURN = 1 << 0,	/* also sample and limit */
	TC_EVENT_AT_RETURN = 1 << 1,		/* instead of the hit's */
	TC_RETURN_EVENT = 1 << 2,		/* besides the hit's */
	TC_KEEP_ARGS = 1 << 3,
	TC_KEEP_PATH = 1 << 4,
	TC_KEEP_IF = 1 << 5,	/* of a graph's root: `keep_if` decides on all that is recorded within */
	TC_SPLIT = 1 << 6,	/* durations are split into running, runnable and blocked */
	TC_SYSCALLS = 1 << 7,	/* system calls within the graph's calls are recorded */
};

enum tc_condition_kind {
	TC_NO_CONDITION,
	TC_CODE,
	/*
	 * At most TC_MAX_TERM_INSNS instructions: returns of an immediate, and comparisons, but not of
	 * texts, in which a is an argument, the process or the thread, and b an immediate.
	 */
	TC_TERMS,
};

/* The sides of a pair of probes, between which the time is measured. */
enum tc_pair_side {
	TC_PAIR_FROM = 1 << 0,
	TC_PAIR_TO = 1 << 1,	/* a hit with both ends the open pair, and then starts one */
};

/* Effects of a taken hit on its thread, for its session. */
enum tc_effect {
	TC_SET_TAG = 1 << 0,
	TC_SILENCE = 1 << 1,	/* at most one of these two */
	TC_UNSILENCE = 1 << 2,
	TC_LEARN_TAG = 1 << 3,	/* argument 1 is the address of the thread's struct tc_own_tag_state */
	TC_DEEPEST = 1 << 4,	/* takes only hits at which more stack is in use than at any taken before */
};

/* Effects of a taken hit on a session, its own or another. */
enum tc_trigger_does {
	TC_CLOSE_GATE,
	TC_OPEN_GATE,
	TC_ASK_FOR_DUMP,	/* of its flight recorder */
};

struct tc_trigger {
	__u16 session;
	__u16 does;		/* enum tc_trigger_does */
};

/*
 * The actions of a hook that its flags alone do not describe. Immutable, and shared by hooks of one
 * session.
 */
struct tc_spec {
	struct tc_value condition;
	__u64 condition_kind;	/* enum tc_condition_kind */
	__u64 sample;		/* takes one in this many hits; 0: each */
	__u64 limit;		/* the most hits taken in a second; 0: all */
	__u32 value_count;	/* of a record; 0: it has the arguments */
	__u32 value_words;	/* of all values: TC_STR_LEN / 8 for a text or bytes, 1 for others */
	__u32 aggregate_count;
	__u32 at_return;	/* enum tc_at_return */
	__u32 stack_frames;	/* the most frames of a record's stack; 0: it has none */
	__u16 session;
	__u16 effects;		/* enum tc_effect */
	__u32 tag;		/* its number in the session */
	__u32 trigger_count;
	struct tc_trigger triggers[TC_MAX_TRIGGERS];
	__u32 pair;		/* number of the pair of which it is a side, never reused; or 0 */
	__u32 pair_sides;	/* enum tc_pair_side */
	__u32 graph_depth;	/* of a graph: calls with this many around them are left out; 0: none are */
	__u32 blocked;		/* 1 + the number of the aggregate that is TC_AT_BLOCK, or 0 */
	struct tc_value keep_if;	/* a condition, evaluated when the call ends */
	struct tc_aggregate matched_by;	/* only its keys are used: ends find their starts by them */
	struct tc_value values[TC_MAX_VALUES];
	struct tc_aggregate aggregates[TC_MAX_AGGREGATES];
	struct tc_text texts[TC_SPEC_TEXTS];
	struct tc_insn code[TC_SPEC_INSNS];
};

TC_ASSERT_SIZE(struct tc_value, 8);
TC_ASSERT_SIZE(struct tc_path, 16);
TC_ASSERT_SIZE(struct tc_aggregate, 64);
TC_ASSERT_SIZE(struct tc_trigger, 4);
TC_ASSERT_SIZE(struct tc_spec, 104 + 64 + 8 * 12 + 64 * 8 + 64 * 16 + 16 * 256);
TC_ASSERT_SIZE(struct tc_arg, 16);
TC_ASSERT_SIZE(struct tc_layout, 8 + 16 * TC_MAX_ARGS);
TC_ASSERT_SIZE(struct tc_insn, 16);
TC_ASSERT_SIZE(struct tc_text, 64);

#endif
