/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Closes the calls that are over without having returned. */
#ifndef TRACECTL_UNWOUND_BPF_H
#define TRACECTL_UNWOUND_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/ends.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"

/* Where a call of the thread begins or ends: those that are over, but have not returned, are closed. */
struct closing {
	bpf_user_pt_regs_t *ctx;
	struct calls *calls;
	__u64 under;
	__u64 sp;		/* the place of the return address */
	__u64 begins;
};

static long close_round(__u32 round, const struct closing *at)
{
	struct calls *calls = at->calls;
	__u64 over = find_over(calls, at->sp, at->begins);

	if (over == NO_CALL)
		return LAST_ROUND;
	make_innermost(calls, over);
	if (unwind_innermost(calls, at->under))
		act_on_end(at->ctx, &calls->ended_for, calls, at->under, &calls->ended);
	return NEXT_ROUND;
}

static __always_inline void close_unwound(bpf_user_pt_regs_t *ctx, struct calls *calls, __u64 under,
					  __u64 sp, bool begins)
{
	struct closing at = { .ctx = ctx, .calls = calls, .under = under, .sp = sp, .begins = begins };

	bpf_loop(TC_MAX_DEPTH, close_round, &at, 0);
}

#endif
