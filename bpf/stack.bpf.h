/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The user stack of a record, after its values. */
#ifndef TRACECTL_STACK_BPF_H
#define TRACECTL_STACK_BPF_H

#include "bpf/abi.h"
#include "bpf/cpu.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/streamed.bpf.h"
#include "bpf/walk.bpf.h"

struct few_frames {
	struct tc_frames head;
	__u64 address[TC_FEW_FRAMES];
};

struct most_frames {
	struct tc_frames head;
	__u64 address[TC_MOST_FRAMES];
};

struct frames_walk {
	struct walk walk;
	__u64 *address;		/* of the frames, with this room */
	__u64 room;
	__u64 place;
	__u32 most, count;
	bool more, begun;
};

static long frames_round(__u32 round, struct frames_walk *of)
{
	__u64 i = of->place;

	if (i >= of->room)
		return LAST_ROUND;
	/* `begun` instead of i > 0: the verifier would continue with each value that i can have. */
	if (of->more && of->begun)
		of->more = i < of->most && next_frame(&of->walk);
	of->begun = true;
	of->address[i] = of->more ? of->walk.address : 0;
	of->count += of->more;
	of->place = next_place(i);
	return NEXT_ROUND;
}

/* Fills all of the room: places without a frame are 0. */
static __always_inline void fill_frames(struct tc_frames *head, __u64 *address, const __u32 room,
					bpf_user_pt_regs_t *ctx, __u8 words_below_caller, __u32 most)
{
	struct frames_walk walk = { .address = address, .room = room, .most = most };

	walk.place = unknown_zero;
	walk.count = unknown_zero;
	walk.more = !unknown_zero;
	walk.begun = unknown_zero;
	begin_walk(&walk.walk, ctx, words_below_caller);
	bpf_loop(room, frames_round, &walk, 0);
	head->count = walk.count;
	head->end = walk.walk.end;
	head->image = image_of_current();
}

__on_its_own int fill_few(bpf_user_pt_regs_t *ctx, struct few_frames *to, __u8 words_below_caller, __u32 most)
{
	if (!to)
		return 0;
	fill_frames(&to->head, to->address, TC_FEW_FRAMES, ctx, words_below_caller, most);
	return 0;
}

__on_its_own int fill_most(bpf_user_pt_regs_t *ctx, struct most_frames *to, __u8 words_below_caller, __u32 most)
{
	if (!to)
		return 0;
	fill_frames(&to->head, to->address, TC_MOST_FRAMES, ctx, words_below_caller, most);
	return 0;
}

struct registers {
	__u64 value[TC_NO_REGISTER];
};

/* The context may only be read at constant offsets; the copy can be indexed. */
static __always_inline void copy_registers(struct registers *to, const bpf_user_pt_regs_t *ctx)
{
#define COPY(number, name) to->value[number] = ctx->name;
	FOR_EACH_REGISTER(COPY)
#undef COPY
}

struct stack_copying {
	struct tc_stack_copy *copy;
	__u64 start;
	__u64 unused;		/* bytes below the stack pointer */
	__u64 count;		/* bytes before the first that cannot be read */
	__u64 place;
	bool whole;
};

static long copy_round(__u32 round, struct stack_copying *of)
{
	__u64 i = of->place, at = i * TC_STACK_CHUNK;

	if (i >= TC_STACK_CHUNKS)
		return LAST_ROUND;
	if (bpf_probe_read_user(of->copy->bytes + at, TC_STACK_CHUNK, (const void *)(of->start + at)) &&
	    at >= of->unused)
		of->whole = false;
	if (of->whole)
		of->count += TC_STACK_CHUNK;
	of->place = next_place(i);
	return NEXT_ROUND;
}

/*
 * A chunk that cannot be read becomes 0, and byte_count ends before it, unless it is below the stack pointer:
 * the red zone can be in a page that the program has never used.
 */
__on_its_own int fill_copy(bpf_user_pt_regs_t *ctx, struct tc_stack_copy *copy)
{
	__u64 stack_pointer = read_register(ctx, TC_STACK_POINTER);
	__u64 start = (stack_pointer - TC_RED_ZONE) & ~(TC_STACK_CHUNK - 1ULL);
	struct stack_copying of = { .copy = copy, .start = start };

	if (!copy)
		return 0;
	of.unused = (stack_pointer - start) & ~(TC_STACK_CHUNK - 1ULL);
	of.count = unknown_zero;
	of.place = unknown_zero;
	of.whole = !unknown_zero;
	copy_registers((struct registers *)copy->registers, ctx);
	copy->start = start;
	bpf_loop(TC_STACK_CHUNKS, copy_round, &of, 0);
	copy->byte_count = of.count;
	copy->image = image_of_current();
	return 0;
}

enum {
	COPY_WORDS = sizeof(struct tc_stack_copy) / 8,
	WORDS_OF_FEW = sizeof(struct few_frames) / 8,
	WORDS_OF_MOST = sizeof(struct most_frames) / 8,
};

/* `words`: one of the sizes above, which also determines the kind. `before`: words before the stack. */
static __always_inline void fill_stack(const struct streamed *hit, struct tc_record *record,
				       const __u32 before, const __u32 words)
{
	void *stack = &record->args[before];

	if (words == COPY_WORDS)
		fill_copy(hit->ctx, stack);
	else if (words == WORDS_OF_FEW)
		fill_few(hit->ctx, stack, hit->words_below_caller, hit->spec->stack_frames);
	else
		fill_most(hit->ctx, stack, hit->words_below_caller, hit->spec->stack_frames);
	record->flags |= words == COPY_WORDS ? TC_RECORD_STACK_COPY : TC_RECORD_FRAMES;
	record->stack_words = words;
}

#endif
