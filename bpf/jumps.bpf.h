/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Jumps by which functions end: whether one is taken, and its target. */
#ifndef TRACECTL_JUMPS_BPF_H
#define TRACECTL_JUMPS_BPF_H

#include "bpf/helpers.bpf.h"

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
