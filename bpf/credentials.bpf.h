/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The user as whom a task runs, and whether that user may read its memory. */
#ifndef TRACECTL_CREDENTIALS_BPF_H
#define TRACECTL_CREDENTIALS_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"

/* include/linux/mm_types.h: the lowest bits of the flags say who may read the memory. */
enum { DUMPABLE_MASK = 3, DUMPABLE_BY_USER = 1 };

/* Since Linux 6.18 the flags are a bitmap in a struct of their own. */
static __always_inline bool is_dumpable(struct mm_struct *mm)
{
	struct mm_struct___bitmap *with_bitmap = (void *)mm;
	struct mm_struct___word *with_word = (void *)mm;
	unsigned long flags;

	/* A thread that is about to end no longer has memory. */
	if (!mm)
		return true;
	if (bpf_core_field_exists(with_bitmap->flags.__mm_flags))
		flags = with_bitmap->flags.__mm_flags[0];
	else
		flags = with_word->flags;
	return (flags & DUMPABLE_MASK) == DUMPABLE_BY_USER;
}

static __always_inline bool runs_as(const struct cred *cred, const struct tc_owner *owner)
{
	return cred->uid.val == owner->uid && cred->euid.val == owner->uid &&
	       cred->suid.val == owner->uid && cred->gid.val == owner->gid &&
	       cred->egid.val == owner->gid && cred->sgid.val == owner->gid;
}

/* Eight bytes, whatever the kernel's type for them is. */
static __always_inline __u64 permitted_to(const struct cred *cred)
{
	return *__builtin_preserve_access_index((const __u64 *)&cred->cap_permitted);
}

#endif
