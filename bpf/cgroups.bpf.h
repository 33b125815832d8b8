/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The cgroups that belong to a set target: one that was chosen and all below it. A process belongs to the
 * set while it is in one of them. Each hit checks that, so forks, moves and execs need not be followed. A
 * new cgroup gets its sets before anybody can see it: those of its parent, and those chosen by its name,
 * so that a unit that is restarted is traced from its first instruction. User space adds the cgroups that
 * existed before (finding/set_targets.cpp).
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
