/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The limits of everything that the programs and the engine share. Part of bpf/abi.h. */
#ifndef TRACECTL_ABI_LIMITS_H
#define TRACECTL_ABI_LIMITS_H

#include <linux/types.h>

enum {
	TC_SLOT_BITS = 20,		/* of a slot's number in words that have more in them */
	TC_MAX_SLOTS = 1 << TC_SLOT_BITS,	/* slot 0 is never used */
	TC_FIRST_SLOTS = 65536,		/* whose memory is there from the start; others are in chunks */
	TC_CHUNK_SLOTS = 65536,
	TC_SLOT_CHUNKS = (TC_MAX_SLOTS - TC_FIRST_SLOTS) / TC_CHUNK_SLOTS,
	TC_MAX_HOOKS = TC_MAX_SLOTS,	/* besides the first of each slot; 0 is none */
	TC_CHUNK_HOOKS = 65536,		/* all hooks are in chunks */
	TC_HOOK_CHUNKS = TC_MAX_HOOKS / TC_CHUNK_HOOKS,
	TC_MAX_HOOKS_OF_SLOT = 64,
	TC_MAX_STATS = 2 * TC_MAX_SLOTS,	/* for each CPU; twice the slots, to read and zero them all */
	TC_FIRST_STATS = 2 * TC_FIRST_SLOTS,	/* as with slots */
	TC_CHUNK_STATS = 65536,
	TC_STAT_CHUNKS = (TC_MAX_STATS - TC_FIRST_STATS) / TC_CHUNK_STATS,
	TC_PACKED_ACCOUNTS = 32,	/* in the place of a struct tc_stat */
	TC_MAX_KEYS = 65536,		/* of counts and histograms; also of sums, and of texts */
	TC_MAX_KEY_STACKS = 16384,
	TC_MAX_SPECS = 1024,		/* with code; 0 is none */
	TC_MAX_RATES = 65536,
	TC_MAX_LAYOUTS = 4096,		/* layout 0 has no arguments */
	TC_MAX_SESSIONS = 256,
	TC_MAX_ACCOUNTS = 256,		/* of users with a quota */
	TC_MAX_TAGS = 256,		/* of a session; 0 is no tag */
	TC_TAG_LEN = 16,
	TC_OWN_TAG_LEN = 32,		/* of a thread's own, with the 0 after it */
	TC_OWN_TAGS = 65536,		/* the last ones seen, of all threads */
	TC_MAX_TRIGGERS = 4,		/* of a spec */
	TC_MAX_ARGS = 12,
	TC_MAX_SET_TARGETS = 256,
	TC_MEMBER_WORDS = TC_MAX_SET_TARGETS / 64,
	TC_PROOF_WORDS = TC_MAX_SESSIONS / 64,
	TC_MAX_PROOFS = 256,		/* checked at a time */
	TC_MAX_TOLD_UNPROVEN = 4096,	/* processes that are evicted are counted again */
	TC_MAX_PROCESSES = 65536,	/* that belong to a set target */
	TC_MAX_LINKERS = 4096,		/* dynamic linkers, armed to report what they map */
	TC_MAX_CGROUPS = 16384,		/* that belong to a set target */
	TC_MAX_TOLD_EXECS = 4096,	/* files that are evicted are reported again */
	TC_CGROUP_NAME_LEN = 128,	/* with the 0 after it */
	TC_COMM_LEN = 16,
	TC_MAX_INSNS = 64,		/* of one expression */
	TC_REGISTERS = 8,		/* of the machine that runs it */
	TC_TEXT_LEN = 63,		/* bytes of a text in an expression */
	TC_STR_LEN = 64,		/* the most bytes that str(E) returns, without a 0 after them */
	TC_STR_SIZED = 1 << 7,		/* beside the most bytes of a string: its address has its length, see
					   TC_ADDRESS_BITS */
	TC_ADDRESS_BITS = 56,		/* of an address of a program; with TC_STR_SIZED the bits above are
					   the string's length in bytes, if that is less than its most bytes */
	TC_SPEC_INSNS = 256,		/* of all expressions of a spec */
	TC_MAX_TERM_INSNS = 6,		/* of a condition of terms */
	TC_SPEC_TEXTS = 16,
	TC_MAX_VALUES = 12,
	TC_MAX_AGGREGATES = 8,
	TC_KEY_PARTS = 3,
	TC_MAX_RECORD_WORDS = TC_MAX_VALUES * TC_STR_LEN / 8,
	TC_MAX_CALLERS = 16384,		/* threads and goroutines, times the sessions that follow their calls */
	TC_MANY_CALLERS = 512,		/* of one account: goroutines that are in no call are forgotten beyond these */
	TC_NEAR_CALLS = 128,		/* open in a thread for one session without further memory */
	TC_MAX_DEPTH = 10240,		/* calls open in a thread for one session */
	TC_MAX_DEEP_BLOCKS = 4096,	/* of TC_NEAR_CALLS calls, for all threads */
	TC_MAX_TRAMPOLINES = 64,	/* of one thread: the kernel's limit */
	TC_HELD_BYTES = 16384,		/* of records that wait for the end of a call, in one block */
	TC_MAX_HELD_BLOCKS = 4096,	/* for all threads, */
	TC_HELD_BLOCKS = 64,		/*   and of one for one session */
	TC_CALL_ARGS = 6,		/* the first arguments, which are kept for the return */
	TC_MAX_TIMES = 16384,		/* keys of `time` */
	TC_MAX_PATHS = 16384,		/* of calls in graphs: struct tc_path */
	TC_TIME_BUCKETS = 65,
	TC_FEW_FRAMES = 32,		/* of a stack; longer ones take room for TC_MOST_FRAMES */
	TC_MOST_FRAMES = 127,
	TC_STACK_CHUNK = 512,		/* bytes; no chunk that begins at a multiple crosses a page */
	TC_STACK_CHUNKS = 32,		/* copied of a stack */
	TC_MAX_STARTS = 65536,		/* that wait for their ends, of all pairs */
	TC_MAX_PAIR_HOOKS = 8192,
	TC_MAX_SLOWEST = 32,		/* kept for each hook; a power of two */
};

/* Both sides must lay structs out alike. */
#ifdef __cplusplus
#define TC_ASSERT(holds, what) static_assert(holds, what)
#else
#define TC_ASSERT(holds, what) _Static_assert(holds, what)
#endif
#define TC_ASSERT_SIZE(type, size) TC_ASSERT(sizeof(type) == (size), #type)

#endif
