/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The sources of the record of a hit, or of the end of a call. */
#ifndef TRACECTL_STREAMED_BPF_H
#define TRACECTL_STREAMED_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/held.bpf.h"
#include "bpf/helpers.bpf.h"

/* A hit, or the end of a call, whose record is being written. */
struct streamed {
	bpf_user_pt_regs_t *ctx;
	__u64 epoch;
	__u64 code;
	__u32 source;
	__u8 session;
	__u8 flags;	/* the lowest 8 bits of the hook's */
	__u8 words_below_caller;
	const struct tc_spec *spec;
	const struct tc_layout *layout;
	const struct tc_ring_loss *loss;
	const struct ended *ended;	/* the call that ends with it, or null */
	__u64 call;			/* the call of a graph that begins with it: as in tc_end */
	void *ring;
	struct held_block *held;	/* the block in which it waits for the end of a call, or null */
};

#endif
