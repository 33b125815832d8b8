/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Stacks that are keys. A stack gets a number of 64 bits: the lowest eight are its session, the others a hash of
 * the session, the process, the program that this executes, and the frames. A table has the stack of each
 * number; its entry is filled when the number first occurs. A hit that finds an entry which is not filled yet fills
 * it too, with the same data, so that no hit is counted by an unknown stack.
 */
#ifndef TRACECTL_KEY_STACK_BPF_H
#define TRACECTL_KEY_STACK_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/shares.bpf.h"
#include "bpf/thread.bpf.h"
#include "bpf/walk.bpf.h"

static const struct tc_key_stack no_key_stack;

/* Packed into one word, because a function has at most five parameters. */
struct key_stack_of {
	__u32 most;		/* frames */
	__u16 session;		/* whose rings get new stacks */
	__u8 words_below_caller;
	__u8 without_innermost;	/* the frames begin with the caller */
};

static __always_inline struct key_stack_of unpacked_stack_of(__u64 packed)
{
	struct key_stack_of of;

	__builtin_memcpy(&of, &packed, sizeof(of));
	return of;
}

/* `caller`: the return address of a call that ends; else 0. */
static __always_inline __u64 key_stack_of(const struct tc_value *value, __u8 words_below_caller,
					  __u16 session, __u64 caller)
{
	struct key_stack_of of = { .most = value->a,
				   .words_below_caller = words_below_caller,
				   .session = session,
				   .without_innermost = caller || value->from };
	__u64 packed;

	__builtin_memcpy(&packed, &of, sizeof(packed));
	return packed;
}

/*
 * A step of a hash: that of splitmix64. With only one multiplication, somebody could choose two words
 * whose differences always cancel, whatever the seed.
 */
static __always_inline __u64 mixed(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0xbf58476d1ce4e5b9;
	hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
	return hash ^ hash >> 31;
}

static __always_inline void begin_key_walk(struct walk *walk, bpf_user_pt_regs_t *ctx,
					   __u64 caller, __u8 words_below_caller)
{
	begin_walk(walk, ctx, caller ? 0 : words_below_caller);
	if (caller)
		walk->caller = caller;
}

struct key_walk {
	struct walk walk;
	struct tc_key_stack *to;
	__u64 hash;
	__u64 place;
	__u32 most, count;
	bool more, begun;
};

static long key_walk_round(__u32 round, struct key_walk *of)
{
	__u64 i = of->place;

	if (i >= TC_MOST_FRAMES || (!of->to && !of->more))
		return LAST_ROUND;
	if (of->more && i >= of->most)
		of->more = false;
	else if (of->more && of->begun)
		of->more = next_frame(&of->walk);
	of->begun = true;
	if (of->more)
		of->hash = mixed(of->hash, of->walk.address);
	if (of->to)
		of->to->address[i] = of->more ? of->walk.address : 0;
	of->count += of->more;
	of->place = next_place(i);
	return NEXT_ROUND;
}

/* `walk->walk` has begun. */
static __always_inline void take_frames(struct key_walk *walk)
{
	struct tc_key_stack *to = walk->to;

	walk->place = unknown_zero;
	walk->count = unknown_zero;
	walk->more = !unknown_zero;
	bpf_loop(TC_MOST_FRAMES, key_walk_round, walk, 0);
	if (to) {
		to->frames.end = walk->walk.end;
		to->frames.count = walk->count;
	}
}

/* Returns `hash` with the frames added, and writes the frames to `to` unless that is null, filling all of its room. */
__on_its_own __u64 walk_key_stack(bpf_user_pt_regs_t *ctx, __u64 caller, __u64 packed, __u64 hash,
				  struct tc_key_stack *to)
{
	const struct key_stack_of of = unpacked_stack_of(packed);
	struct key_walk walk = { .to = to, .hash = hash, .most = of.most, .begun = of.without_innermost };

	begin_key_walk(&walk.walk, ctx, caller, of.words_below_caller);
	take_frames(&walk);
	return walk.hash;
}

static __always_inline struct tc_record *head_of(struct tc_key_stack *stack)
{
	return (struct tc_record *)stack->head;
}

static __always_inline void report_stack(const struct tc_key_stack *stack, __u16 session)
{
	__u32 ring_index = session * cpu_count + bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &ring_index);

	if (ring)
		bpf_ringbuf_output(ring, (void *)stack, sizeof(*stack), wakeup_flag());
}

/* Ends the filling of an entry. Last: a reader that sees the kind sees the rest. */
static __always_inline void finish_key_stack(struct tc_key_stack *to, __u32 pid)
{
	struct tc_record *head = head_of(to);

	to->frames.image = image_of_current();
	head->pid = pid;
	head->flags = TC_RECORD_FRAMES;
	head->stack_words = (sizeof(*to) - sizeof(to->head)) / 8;
	asm volatile("" ::: "memory");
	*(volatile __u8 *)&head->kind = TC_RECORD_KEY_STACK;
}

static __always_inline bool is_filled(const struct tc_key_stack *stack)
{
	return *(volatile __u8 *)&((const struct tc_record *)stack->head)->kind == TC_RECORD_KEY_STACK;
}

static __always_inline void add_key_stack(__u64 number, __u32 session)
{
	if (!take_room_for(session, TC_TABLE_KEY_STACKS))
		return;
	/* If another program is first the entry is there too. */
	if (bpf_map_update_elem(&key_stacks, &number, &no_key_stack, BPF_NOEXIST))
		give_room_of(session, TC_TABLE_KEY_STACKS);
}

/* The hash of no frames, of the current process. */
static __always_inline __u64 hash_of_process(__u32 pid)
{
	return mixed(mixed(key_stack_seed, pid), image_of_current());
}

/* 0 means none. */
static __always_inline __u64 stack_number(__u64 hash, __u16 session)
{
	return (hash << 8 | (__u8)session) ?: 1 << 8;
}

/* Its entry, which may not be filled yet; null if there is no room for it. */
static __always_inline struct tc_key_stack *entry_of_stack(__u64 number, __u16 session)
{
	struct tc_key_stack *known = bpf_map_lookup_elem(&key_stacks, &number);

	if (known)
		return known;
	add_key_stack(number, session);
	return bpf_map_lookup_elem(&key_stacks, &number);
}

/* 0 if there is no room for a new stack. */
__on_its_own __u64 number_of_stack(bpf_user_pt_regs_t *ctx, __u64 caller, __u64 packed)
{
	__u16 session = unpacked_stack_of(packed).session;
	struct tc_key_stack *known;
	__u32 pid = ids_of_current().pid;
	__u64 number;

	number = stack_number(walk_key_stack(ctx, caller, packed, hash_of_process(pid), 0), session);
	known = entry_of_stack(number, session);
	if (!known)
		return 0;
	if (!is_filled(known)) {
		walk_key_stack(ctx, caller, packed, 0, known);
		finish_key_stack(known, pid);
		report_stack(known, session);
	}
	return number;
}

#endif
