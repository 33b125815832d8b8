/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The mapping of an address of the current process, found without the lock of its mappings:
 * bpf_find_vma() fails if another thread holds that lock or has just been woken to take it, so strings
 * of a program that maps and unmaps all the time would be missing.
 *
 * The kernel keeps the mappings in a maple tree and walks it in this way itself, under RCU
 * (include/linux/maple_tree.h; lib/maple_tree.c, mtree_range_walk). A mapping that is found counts only if
 * its own fields say that it is of that memory and address; all reads may fail.
 */
#ifndef TRACECTL_MAPPING_BPF_H
#define TRACECTL_MAPPING_BPF_H

#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/loop.bpf.h"

enum {
	MAPLE_ROOT_KIND = 3,		/* mask of the root's lowest bits, which are: */
	MAPLE_ROOT_IS_NODE = 2,		/*   this, unless the root is the only mapping */
	MAPLE_NODE_MASK = 255,		/* nodes are aligned; an entry has its node's type below */
	MAPLE_TYPE_SHIFT = 3,
	MAPLE_TYPE_MASK = 15,
	MAPLE_MOST_SLOTS = 16,
	MAPLE_MOST_LEVELS = 12,
	MAPLE_WALKS = 8,		/* each may fail by a concurrent change */
};

static __always_inline __u32 maple_type(__u64 entry)
{
	return entry >> MAPLE_TYPE_SHIFT & MAPLE_TYPE_MASK;
}

/* The entry of a node's slot for the address: a slot reaches up to its pivot; the last one has none, or 0. */
__on_its_own __u64 maple_next(__u64 entry, __u64 address)
{
	const struct maple_node *node = (const void *)(entry & ~(__u64)MAPLE_NODE_MASK);
	bool has_gaps = maple_type(entry) == bpf_core_enum_value(enum maple_type, maple_arange_64);
	const void *pivots = has_gaps ? (const void *)&node->ma64.pivot : &node->mr64.pivot;
	const void *slots = has_gaps ? (const void *)&node->ma64.slot : &node->mr64.slot;
	__u32 pivot_count = (has_gaps ? bpf_core_field_size(node->ma64.pivot)
				      : bpf_core_field_size(node->mr64.pivot)) / sizeof(__u64);
	__u64 pivot, next = 0;
	__u32 i;

	for (i = 0; i < MAPLE_MOST_SLOTS - 1 && i < pivot_count; i++) {
		if (bpf_probe_read_kernel(&pivot, sizeof(pivot), pivots + i * sizeof(pivot)))
			return 0;
		if (pivot >= address || (i && !pivot))
			break;
	}
	bpf_probe_read_kernel(&next, sizeof(next), slots + i * sizeof(next));
	return next;
}

static __always_inline struct vm_area_struct *walk_to_mapping(struct mm_struct *mm, __u64 address)
{
	__u64 entry = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	__u32 i;

	if ((entry & MAPLE_ROOT_KIND) != MAPLE_ROOT_IS_NODE)
		return 0;
	for (i = 0; i < MAPLE_MOST_LEVELS; i++) {
		bool is_leaf = maple_type(entry) ==
			       bpf_core_enum_value(enum maple_type, maple_leaf_64);

		entry = maple_next(entry, address);
		if (is_leaf)
			return (struct vm_area_struct *)entry;
	}
	return 0;
}

static __always_inline bool is_mapping_of(struct vm_area_struct *vma, struct mm_struct *mm,
					  __u64 address)
{
	return vma && BPF_CORE_READ(vma, vm_mm) == mm && BPF_CORE_READ(vma, vm_start) <= address &&
	       address < BPF_CORE_READ(vma, vm_end);
}

/* Null if there is none. Call it under RCU; the mapping can leave the tree at any time. Use only probe reads on it. */
static __always_inline struct vm_area_struct *mapping_at(struct mm_struct *mm, __u64 address)
{
	__u32 i;

	for (i = 0; i < MAPLE_WALKS; i++) {
		struct vm_area_struct *found = walk_to_mapping(mm, address);

		if (is_mapping_of(found, mm, address))
			return found;
	}
	return 0;
}

#endif
