/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* What probes cost. Part of bpf/abi.h. */
#ifndef TRACECTL_ABI_COSTS_H
#define TRACECTL_ABI_COSTS_H

#include <linux/types.h>

/* What the kernel does at a site besides running the program: CostClass of daemon/model/cost.h. */
enum tc_cost_class {
	TC_COST_FAST,	/* a call in place of the breakpoint */
	TC_COST_NORMAL,	/* a breakpoint, and the kernel emulates the instruction */
	TC_COST_EMULATED,	/* a breakpoint, and the emulator (bpf/emulator.bpf.c) carries it out */
	TC_COST_SLOW,	/* a breakpoint, and the instruction is single-stepped */
	TC_COST_CLASSES,
};

/* How a call is followed. */
enum tc_way { TC_BY_TRAMPOLINE, TC_BY_EXITS, TC_WAYS };

/*
 * The time that the kernel and the processor take for a probe, besides its program, in ns. Measured before the first
 * call is followed (daemon/kernel/calibration.h); 0 where it could not be.
 */
struct tc_hit_costs {
	__u32 entry[TC_COST_CLASSES];	/* of a hit at a site of that class */
	__u32 by_return;		/* of a hit at an exit that returns, */
	__u32 by_jump;			/*   and at one that jumps */
	__u32 by_trampoline;		/* of a return by trampoline */
	/* The part of it between the end of the program at the entry and the beginning of the one at the end. */
	__u32 between[TC_WAYS][TC_COST_CLASSES];
};

#endif
