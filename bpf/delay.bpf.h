/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * For tests/mutate only: delays a hit now and then, so that code that must wait for it and does not is
 * found. A delayed hit lasts longer than a whole commit.
 */
#ifndef TRACECTL_DELAY_BPF_H
#define TRACECTL_DELAY_BPF_H

#include "bpf/helpers.bpf.h"

#ifdef TC_TEST_DELAY
enum {
	TC_DELAY_ONE_IN = 4096,		/* hits */
	TC_DELAY_STEPS = 2000000,	/* a few milliseconds */
};

static long delay_step(__u32 i, void *data)
{
	return 0;
}

static __noinline int test_delay(void)
{
	__u32 any = 0;

	if (bpf_get_prandom_u32() % TC_DELAY_ONE_IN == 0)
		bpf_loop(TC_DELAY_STEPS, delay_step, &any, 0);
	return 0;
}
#else
static __always_inline void test_delay(void) {}
#endif

#endif
