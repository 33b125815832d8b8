/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Whether a hit is for a hook, by the process that hits the probe. */
#ifndef TRACECTL_MATCH_BPF_H
#define TRACECTL_MATCH_BPF_H

#include "bpf/abi.h"
#include "bpf/access.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/thread.bpf.h"

/* One hit of a site. */
struct hit {
	bpf_user_pt_regs_t *ctx;
	__u64 epoch;
	__u32 slot;
	__u32 next;
	bool taken;	/* by a hook of the group */
};

static __always_inline bool has_set(const struct tc_sets *sets, __u32 target)
{
	__u32 word = target / 64;

	if (!sets || word >= TC_MEMBER_WORDS)
		return false;
	return sets->words[word] >> (target % 64) & 1;
}

static __always_inline bool is_member(__u32 pid, __u32 target)
{
	struct tc_member *member = bpf_map_lookup_elem(&members, &pid);

	return member && has_set(&member->of, target);
}

static __always_inline bool is_in_cgroup_of(__u32 target)
{
	__u64 id = bpf_get_current_cgroup_id();

	return has_set(bpf_map_lookup_elem(&cgroups, &id), target);
}

static __always_inline bool is_of_target(const struct tc_hook *hook)
{
	if (hook->tgid)
		return hook->tgid == ids_of_current().pid;
	if (hook->flags & TC_BY_CGROUP)
		return is_in_cgroup_of(hook->set_target - 1);
	if (hook->set_target)
		return is_member(ids_of_current().pid, hook->set_target - 1);
	return true;
}

/* Whether the hook is for the current process. */
__on_its_own bool is_for_current(const struct tc_hook *hook)
{
	return hook && is_of_target(hook) && !is_hidden(hook);
}

__on_its_own bool is_taken_by(const struct tc_hook *hook)
{
	return hook && is_of_target(hook) && !is_hit_hidden(hook);
}

/* Like is_for_current(), for a hit that is then acted on: counts hits that are left out for lack of a proof. */
static __always_inline bool takes(const struct tc_hook *hook)
{
	if (!hook->tgid && !hook->set_target && !(hook->flags & (TC_OWNED | TC_BY_CGROUP)))
		return true;
	return is_taken_by(hook);
}

#endif
