/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Whether the user of a hook's session may see the process that hits it. Each hit checks two things:
 *
 *   whether the user could ptrace(2) the process at this moment, by the rules of the kernel's
 *   __ptrace_may_access() for PTRACE_MODE_READ_REALCREDS. Earlier answers do not count, because a process can
 *   change its user, execute a file that changes it, or make itself not dumpable;
 *
 *   whether the kernel itself has let a client of the session read the memory of the process, or of one from
 *   which it was forked without an exec since (proofs.bpf.h), because the ids do not show what Landlock, Yama,
 *   SELinux and AppArmor decide.
 *
 * Hooks of sessions whose user may see every process are not TC_OWNED, and cost nothing here.
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

/* False if there is no such session. */
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

/* Whether the hook may not see the hit. Hits that only lack the proof are counted. */
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
