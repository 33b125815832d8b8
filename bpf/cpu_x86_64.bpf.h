/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* See bpf/cpu.bpf.h. */
#ifndef TRACECTL_CPU_X86_64_BPF_H
#define TRACECTL_CPU_X86_64_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"

#ifdef __TARGET_ARCH_x86

/* X(number, member of the context) for each register. */
#define FOR_EACH_GENERAL_REGISTER(X) \
	X(0, rax) X(1, rcx) X(2, rdx) X(3, rbx) \
	X(4, rsp) X(5, rbp) X(6, rsi) X(7, rdi) \
	X(8, r8) X(9, r9) X(10, r10) X(11, r11) \
	X(12, r12) X(13, r13) X(14, r14) X(15, r15)
#define FOR_EACH_REGISTER(X) \
	FOR_EACH_GENERAL_REGISTER(X) X(TC_INSTRUCTION_POINTER, rip)

/* ---- a thread ---- */

struct thread_struct {
	unsigned long fsbase;
	unsigned long features;	/* with CONFIG_X86_USER_SHADOW_STACK */
} __attribute__((preserve_access_index));

/* Of thread_info: the system call is one of a 32-bit program (TS_COMPAT). */
#define TC_THREAD_COMPAT 2

/* C libraries put the block that this points to at the top of a thread's stack. */
static __always_inline __u64 thread_pointer(const struct thread_struct *thread)
{
	return thread->fsbase;
}

/* Go's ABIInternal: the goroutine, where a function begins and where it returns. */
enum { GOROUTINE_REGISTER = 14 };

/* ---- calls and returns ---- */

enum { POPPED_BY_RETURN = 8 };	/* bytes */

/* The return address of a call that begins, of which `place` is the place. */
static __always_inline __u64 return_address_at_entry(const bpf_user_pt_regs_t *ctx, __u64 place)
{
	__u64 address = 0;

	bpf_probe_read_user(&address, sizeof(address), (const void *)place);
	return address;
}

/* Whether the return address of an open call can be read, and is another than when the call began. */
static __always_inline bool is_returned_from(__u64 place, __u64 return_address)
{
	__u64 there = 0;

	return !bpf_probe_read_user(&there, sizeof(there), (const void *)place) && there != return_address;
}

/* The return address where the frame pointer is still the caller's; `words`: to it, from the stack pointer. */
static __always_inline __u64 caller_without_frame(const bpf_user_pt_regs_t *ctx, __u8 words)
{
	return return_address_at_entry(ctx, ctx->rsp + words * 8);
}

/* A return address as a frame holds it. */
static __always_inline __u64 code_address(__u64 saved, __u64 addresses)
{
	return saved;
}

/* ---- jumps by which functions end ---- */

static __always_inline __u64 flags_of(const bpf_user_pt_regs_t *ctx)
{
	return ctx->eflags;
}

/* Intel SDM, volume 2, appendix B, "Encoding of Conditional Test (tttn) Field". */
static __always_inline bool condition_holds(__u64 flags, __u8 condition)
{
	bool carry = flags & 1, parity = flags >> 2 & 1, zero = flags >> 6 & 1;
	bool sign = flags >> 7 & 1, overflow = flags >> 11 & 1, holds = false;

	switch (condition >> 1 & 7) {
	case 0: holds = overflow; break;
	case 1: holds = carry; break;
	case 2: holds = zero; break;
	case 3: holds = carry || zero; break;
	case 4: holds = sign; break;
	case 5: holds = parity; break;
	case 6: holds = sign != overflow; break;
	case 7: holds = zero || sign != overflow; break;
	}
	return holds != (condition & 1);
}

/*
 * The target of a relative jump: the instruction ends with the distance, of one byte or four. A breakpoint
 * hides only the first byte of the instruction. 0 if the target cannot be known.
 */
static __always_inline __u64 jump_target(bpf_user_pt_regs_t *ctx, __u64 length)
{
	__u64 behind = ctx->rip + length;
	__s32 far = 0;
	__s8 near = 0;

	if (!length)
		return 0;
	if (length < 5)
		return bpf_probe_read_user(&near, sizeof(near), (const void *)(behind - 1)) ?
			       0 : behind + near;
	return bpf_probe_read_user(&far, sizeof(far), (const void *)(behind - 4)) ? 0 : behind + far;
}

#endif

#endif
