/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Which cgroups belong to a set target: one that was chosen and all below it. A process belongs to the
 * set while it is in one of them, which is asked at each hit, so neither a fork nor a move nor an exec
 * has to be followed. A cgroup that is made hears of it before anybody can see it: what its parent
 * hands on, and what was chosen by that name, so that a unit that is started anew is traced from its
 * first instruction. User space adds the cgroups that were there before (trace/set_targets.cpp).
 */
#ifndef TRACECTL_CGROUPS_BPF_H
#define TRACECTL_CGROUPS_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/members.bpf.h"

/* The hierarchy of version 2; those of version 1 have ids of their own. */
static __always_inline bool is_of_version_2(const struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, root, hierarchy_id) == 0;
}

SEC("tp_btf/cgroup_mkdir")
int on_cgroup_made(__u64 *ctx)
{
	struct cgroup *made = (void *)ctx[0];
	struct tc_cgroup_name key = {};
	struct tc_sets sets = {};
	__u64 id;
	bool any;

	if (!is_of_version_2(made))
		return 0;
	id = BPF_CORE_READ(made, kn, id);
	key.parent = BPF_CORE_READ(made, self.parent, cgroup, kn, id);
	bpf_probe_read_kernel_str(key.name, sizeof(key.name), BPF_CORE_READ(made, kn, name));
	any = add_sets(&sets, bpf_map_lookup_elem(&cgroups, &key.parent));
	any |= add_sets(&sets, bpf_map_lookup_elem(&cgroup_names, &key));
	if (any)
		bpf_map_update_elem(&cgroups, &id, &sets, BPF_ANY);
	return 0;
}

SEC("tp_btf/cgroup_rmdir")
int on_cgroup_removed(__u64 *ctx)
{
	struct cgroup *removed = (void *)ctx[0];
	__u64 id;

	if (!is_of_version_2(removed))
		return 0;
	id = BPF_CORE_READ(removed, kn, id);
	bpf_map_delete_elem(&cgroups, &id);
	return 0;
}

#endif
