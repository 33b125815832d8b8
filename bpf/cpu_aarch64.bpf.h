/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* See bpf/cpu.bpf.h. */
#ifndef TRACECTL_CPU_AARCH64_BPF_H
#define TRACECTL_CPU_AARCH64_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"

#ifdef __TARGET_ARCH_arm64

/* X(number, member of the context) for each register. */
#define FOR_EACH_REGISTER(X) \
	X(0, regs[0]) X(1, regs[1]) X(2, regs[2]) X(3, regs[3]) \
	X(4, regs[4]) X(5, regs[5]) X(6, regs[6]) X(7, regs[7]) \
	X(8, regs[8]) X(9, regs[9]) X(10, regs[10]) X(11, regs[11]) \
	X(12, regs[12]) X(13, regs[13]) X(14, regs[14]) X(15, regs[15]) \
	X(16, regs[16]) X(17, regs[17]) X(18, regs[18]) X(19, regs[19]) \
	X(20, regs[20]) X(21, regs[21]) X(22, regs[22]) X(23, regs[23]) \
	X(24, regs[24]) X(25, regs[25]) X(26, regs[26]) X(27, regs[27]) \
	X(28, regs[28]) X(29, regs[29]) X(30, regs[30]) \
	X(TC_STACK_POINTER, sp) X(TC_INSTRUCTION_POINTER, pc)

/* ---- a thread ---- */

struct thread_struct {
	struct {
		unsigned long tp_value;
	} __attribute__((preserve_access_index)) uw;
} __attribute__((preserve_access_index));

/*
 * C libraries put the block that this points to at the top of a thread's stack. The kernel knows it from the thread's
 * beginning on; what the thread writes itself into the register is known after its next switch.
 */
static __always_inline __u64 thread_pointer(const struct thread_struct *thread)
{
	return thread->uw.tp_value;
}

/* Go's ABIInternal: the goroutine, where a function begins and where it returns. */
enum { GOROUTINE_REGISTER = 28 };

/* ---- calls and returns ---- */

enum { POPPED_BY_RETURN = 0 };	/* bytes: the return address is in x30, not on the stack */

/* The return address of a call that begins. */
static __always_inline __u64 return_address_at_entry(const bpf_user_pt_regs_t *ctx, __u64 place)
{
	return ctx->regs[TC_LINK];
}

/* Where a function has saved its return address is not known, so a call on another stack is never taken as over. */
static __always_inline bool is_returned_from(__u64 place, __u64 return_address)
{
	return false;
}

/* The return address where the frame pointer is still the caller's. */
static __always_inline __u64 caller_without_frame(const bpf_user_pt_regs_t *ctx, __u8 words)
{
	return ctx->regs[TC_LINK];
}

/*
 * A return address without its signature, which has the bits above those of addresses (Arm ARM, D8.10). `addresses`:
 * how many the process has, a power of two.
 */
static __always_inline __u64 code_address(__u64 saved, __u64 addresses)
{
	return saved & (addresses - 1);
}

/* ---- jumps by which functions end ---- */

static __always_inline __u64 flags_of(const bpf_user_pt_regs_t *ctx)
{
	return ctx->pstate;
}

/* Arm ARM, C1.2.4, "Condition code". */
static __always_inline bool condition_holds(__u64 flags, __u8 condition)
{
	bool negative = flags >> 31 & 1, zero = flags >> 30 & 1;
	bool carry = flags >> 29 & 1, overflow = flags >> 28 & 1, holds = false;

	switch (condition >> 1 & 7) {
	case 0: holds = zero; break;
	case 1: holds = carry; break;
	case 2: holds = negative; break;
	case 3: holds = overflow; break;
	case 4: holds = carry && !zero; break;
	case 5: holds = negative == overflow; break;
	case 6: holds = negative == overflow && !zero; break;
	case 7: return true;
	}
	return holds != (condition & 1);
}

/* A breakpoint hides the whole instruction, so its target is not known. */
static __always_inline __u64 jump_target(const bpf_user_pt_regs_t *ctx, __u64 length)
{
	return 0;
}

#endif

#endif
