/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The records in the rings of events. Part of bpf/abi.h. */
#ifndef TRACECTL_ABI_RECORDS_H
#define TRACECTL_ABI_RECORDS_H

#include "bpf/abi_limits.h"
#include "bpf/abi_machine.h"

enum tc_record_kind {
	TC_RECORD_HIT = 1,
	TC_RECORD_RETURN,	/* struct tc_end comes before its values */
	TC_RECORD_UNWOUND,	/* the same, without a return value */
	TC_RECORD_LATENCY,	/* the same, of the end of a pair */
	TC_RECORD_SYSCALL,	/* a system call has ended: struct tc_end, its number as `second_retval` */
	TC_RECORD_KEY_STACK,	/* no hit: a stack that is a key for the first time */
	TC_RECORD_KEPT,		/* no hit: records that waited for the end of a call, struct tc_kept */
};

enum tc_record_flag {
	TC_RECORD_HAS_RETVAL = 1 << 0,
	/* The form of the stack after its arguments: one of these, or none. */
	TC_RECORD_FRAMES = 1 << 1,	/* struct tc_frames */
	TC_RECORD_STACK_COPY = 1 << 2,	/* struct tc_stack_copy */
	/* It belongs to a call of a graph. A hit then has a word before its values: as tc_end.call. */
	TC_RECORD_CALL = 1 << 3,
	TC_RECORD_SPLIT = 1 << 4,	/* struct tc_split follows its struct tc_end */
};

/* The end of a call or of a pair. */
struct tc_end {
	__u64 retval;
	__u64 second_retval;	/* the register behind it, whether or not the function uses it */
	__u64 duration_ns;
	__u64 call;	/* depth << 32 | number among the thread's calls in its session, 0 if its end is not seen */
};

/* The parts of tc_end.duration_ns in which the thread was not running; both ~0 if they are not known. */
struct tc_split {
	__u64 blocked_ns, runnable_ns;
};

/* The reason why a walk along frame pointers ended. */
enum tc_walk_end {
	TC_WALK_OUTERMOST,	/* a frame pointer was 0 */
	TC_WALK_LIMIT,		/* it found as many frames as asked for */
	TC_WALK_UNREADABLE,	/* a frame pointer led to unreadable memory */
	TC_WALK_BAD_POINTER,	/* a frame pointer did not lead up the stack */
};

/*
 * `image` below identifies, among the programs that a process has executed, the one that a stack belongs
 * to. It is the address where the kernel began its stack, field 28 of /proc/PID/stat, and differs between
 * programs, because the kernel chooses it at random.
 */

/* Addresses follow: the probed one, then return addresses; those past `count` are 0. */
struct tc_frames {
	__u32 count;
	__u32 end;		/* enum tc_walk_end */
	__u64 image;
};

/* All registers and the stack above, to be unwound later. Bytes that could not be read are 0. */
struct tc_stack_copy {
	__u64 registers[TC_NO_REGISTER];	/* by their numbers (bpf/abi_machine.h) */
	__u64 start;		/* address of the first byte */
	__u64 byte_count;	/* the bytes that were read without a gap */
	__u64 image;
	__u8 bytes[TC_STACK_CHUNKS * TC_STACK_CHUNK];
};

/*
 * One hit in a ring. `args` has the words that its kind has before its values, then room for arg_room
 * values; those past arg_count are 0.
 */
struct tc_record {
	__u64 ts_ns;		/* CLOCK_BOOTTIME, read after reserving */
	__u64 epoch;
	/* Number of records that this ring had no room for so far. In one that waited: the CPU that made it. */
	__u64 ring_dropped;
	__u32 source;
	__u32 pid;
	__u32 tid;
	__u8 kind;		/* enum tc_record_kind */
	__u8 flags;		/* enum tc_record_flag */
	__u8 arg_count;
	__u8 arg_room;
	__u32 tag;		/* of the thread: a number in the session, or that of its own with TC_OWN_TAG */
	__u16 arg_valid;	/* bit n: argument n could be read */
	__u16 stack_words;	/* of 8 bytes, after the arguments' room */
	char comm[TC_COMM_LEN];
	__u64 args[];
};

/*
 * A stack in keys, as it is in a table and in a ring. The head is that of a tc_record, in which only pid,
 * kind, flags and stack_words are used.
 */
struct tc_key_stack {
	__u64 head[sizeof(struct tc_record) / 8];
	struct tc_frames frames;
	__u64 address[TC_MOST_FRAMES];
};

/*
 * Records of a thread that were held back until a call ended, in order and without gaps. If a call needs
 * several of these, all but the last are as full as possible. The head is that of a tc_record, in which
 * only times, losses and kind are used.
 */
struct tc_kept {
	__u64 head[sizeof(struct tc_record) / 8];
	__u64 byte_count;	/* of the records */
	__u64 lost;		/* records after these that were not kept for lack of room */
	__u8 bytes[TC_HELD_BYTES];
};

TC_ASSERT_SIZE(struct tc_end, 32);
TC_ASSERT_SIZE(struct tc_split, 16);
TC_ASSERT_SIZE(struct tc_record, 64);
TC_ASSERT_SIZE(struct tc_frames, 16);
TC_ASSERT_SIZE(struct tc_key_stack, 64 + 16 + 8 * TC_MOST_FRAMES);
TC_ASSERT_SIZE(struct tc_stack_copy, (TC_NO_REGISTER + 3) * 8 + 16384);
TC_ASSERT_SIZE(struct tc_kept, 64 + 16 + TC_HELD_BYTES);

#endif
