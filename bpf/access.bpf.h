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

#include "bpf/abi.h"
#include "bpf/credentials.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/unproven.bpf.h"

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
