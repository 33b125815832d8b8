/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Whether the user whose session a hook is may see the process that hits it. Two things are asked at each hit:
 *
 *   whether it could ptrace(2) the process at this moment, as the kernel's __ptrace_may_access() has it for
 *   PTRACE_MODE_READ_REALCREDS: a process changes its user, executes a file that changes it, or asks not to be
 *   looked at, and nothing that was known before counts;
 *
 *   whether the kernel itself has let a client of the session read the memory of the process, or of one that
 *   it was forked from without an exec since (proofs.bpf.h): what Landlock, Yama, SELinux and AppArmor decide
 *   is not to be seen from the ids.
 *
 * Hooks of sessions whose user may see every process are not TC_OWNED, and pay nothing.
 */
#ifndef TRACECTL_ACCESS_BPF_H
#define TRACECTL_ACCESS_BPF_H

/* include/linux/mm_types.h: the lowest bits of the flags say who may look at the memory. */
enum { DUMPABLE_MASK = 3, DUMPABLE_BY_USER = 1 };

/* Since Linux 6.18 the flags are a bitmap in a struct of their own. */
static __always_inline bool is_dumpable(struct mm_struct *mm)
{
	struct mm_struct___bitmap *with_bitmap = (void *)mm;
	struct mm_struct___word *with_word = (void *)mm;
	unsigned long flags;

	/* A thread that is about to end has no memory any more. */
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

/* Closed where there is no such session. */
__on_its_own bool owner_may_see_current(__u32 session)
{
	struct tc_session *of = bpf_map_lookup_elem(&sessions, &session);
	struct task_struct *task = bpf_get_current_task_btf();
	const struct cred *cred = task->real_cred;

	return of && cred && runs_as(cred, &of->owner) &&
	       cred->user_ns->ns.inum == of->owner.user_namespace &&
	       !(permitted_to(cred) & ~of->owner.capabilities) && is_dumpable(task->mm);
}

static __always_inline bool has_proof(const struct tc_member *member, __u32 session, __u64 exec_id)
{
	__u32 word = session / 64;

	if (!member || member->proven_exec != exec_id || word >= TC_PROOF_WORDS)
		return false;
	return member->proven.words[word] >> (session % 64) & 1;
}

static __always_inline bool is_current_proven_to(__u32 session)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 pid = task->tgid;

	return has_proof(bpf_map_lookup_elem(&members, &pid), session, task->self_exec_id);
}

static __always_inline bool is_hidden(const struct tc_hook *hook)
{
	return hook->flags & TC_OWNED &&
	       !(owner_may_see_current(hook->session) && is_current_proven_to(hook->session));
}

__on_its_own int count_unproven(__u32 session);

/* Of a hit. Those that only the proof is missing of are counted. */
static __always_inline bool is_hit_hidden(const struct tc_hook *hook)
{
	if (!(hook->flags & TC_OWNED))
		return false;
	if (!owner_may_see_current(hook->session))
		return true;
	if (is_current_proven_to(hook->session))
		return false;
	count_unproven(hook->session);
	return true;
}

#endif
