/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The time that probes take, so that the times of calls are the program's. A hit takes
 *
 *   before and after its program    the kernel's way in and out, and a single step: measured, by class
 *   in its program                  measured by two looks at the clock
 *
 * Each caller and session has a sum of what its hits at calls have taken. What it grew by between the beginning
 * and the end of a call is left out of the call's time, as is what lies between the two looks at the clock that
 * the call's own hits measure it by. Hits of other sessions, and those that follow no calls, are not left out.
 */
#ifndef TRACECTL_PROBE_TIME_BPF_H
#define TRACECTL_PROBE_TIME_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"

/* Written by user space. */
struct tc_hit_costs hit_costs;

/* A clock that is read without a lock may go back by a little (kernel/time/timekeeping.c). */
static __always_inline __u64 passed(__u64 from_ns, __u64 to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

static __always_inline __u32 cost_of_entry(__u64 class)
{
	return class < TC_COST_CLASSES ? hit_costs.entry[class] : 0;
}

static __always_inline __u32 cost_of_end(__u64 way, __u64 jumps)
{
	if (way == TC_BY_TRAMPOLINE)
		return hit_costs.by_trampoline;
	return jumps ? hit_costs.by_jump : hit_costs.by_return;
}

static __always_inline __u32 cost_between(__u64 way, __u64 class)
{
	return way < TC_WAYS && class < TC_COST_CLASSES ? hit_costs.between[way][class] : 0;
}

#endif
