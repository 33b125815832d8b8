/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* What the record of a hit, or of the end of a call, is made of. */
#ifndef TRACECTL_STREAMED_BPF_H
#define TRACECTL_STREAMED_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/held.bpf.h"
#include "bpf/helpers.bpf.h"

/* A hit on its way into a ring. */
struct streamed {
	bpf_user_pt_regs_t *ctx;
	__u64 epoch;
	__u64 code;
	__u32 source;
	__u8 session;
	__u8 flags;	/* of the hook, the lowest of them */
	__u8 words_below_caller;
	const struct tc_spec *spec;
	const struct tc_layout *layout;
	const struct tc_ring_loss *loss;
	const struct ended *ended;	/* the call that ends by it, or null */
	__u64 call;			/* of a graph, that begins by it: as tc_end has it */
	void *ring;
	struct held_block *held;	/* where it waits for the end of a call; else null */
};

#endif
