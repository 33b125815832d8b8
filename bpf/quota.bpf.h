/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Takes at most a limit in each second, for all CPUs together. */
#ifndef TRACECTL_QUOTA_BPF_H
#define TRACECTL_QUOTA_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"

enum { TAKE_TRIES = 16 };	/* each that fails was preempted by one that took */

/*
 * *in_second has the second since boot in its upper half, and the number taken in it below. A hit that fails in all
 * tries takes nothing.
 */
static __always_inline bool take_within(__u64 *in_second, __u64 limit, __u32 count)
{
	__u64 second = bpf_ktime_get_boot_ns() / 1000000000 << 32;
	__u32 i;

	for (i = 0; i < TAKE_TRIES; i++) {
		__u64 old = *(volatile __u64 *)in_second;
		__u64 now = old >= second ? old : second;	/* a newer second stays begun */

		if ((__u32)now + count > limit)
			return false;
		if (__sync_val_compare_and_swap(in_second, old, now + count) == old)
			return true;
	}
	return false;
}

/* Whether the session's user may stream `count` more records in this second. */
__on_its_own bool owner_may_stream(__u32 session, __u32 count)
{
	struct tc_session *of = bpf_map_lookup_elem(&sessions, &session);
	struct tc_account *account;
	__u32 number;

	if (!of)
		return false;
	number = of->account;
	if (!number)
		return true;
	account = bpf_map_lookup_elem(&accounts, &number);
	return account && take_within(&account->in_second, account->events_per_second, count);
}

#endif
