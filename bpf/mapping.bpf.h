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

static __always_inline bool is_mapping_of(struct vm_area_struct *vma, struct mm_struct *mm,
					  __u64 address)
{
	return vma && BPF_CORE_READ(vma, vm_mm) == mm && BPF_CORE_READ(vma, vm_start) <= address &&
	       address < BPF_CORE_READ(vma, vm_end);
}

struct mapping_walk {
	__u64 address;
	__u64 entry;		/* of a node; 0: the walk begins */
	__u64 slot;		/* the slot of the node to compare next; MAPPING_IS_FOUND: the entry is the mapping */
	__u64 walks;		/* from the root so far */
};

enum { MAPPING_IS_FOUND = MAPLE_MOST_SLOTS };

enum step_in_node { COMPARED, HAS_ENTRY, WAS_CHANGED };

/*
 * Compares the address with one slot of the node: a slot reaches up to its pivot; the last one has none, or 0. Sets
 * `entry` if the slot is the address's.
 */
static __always_inline enum step_in_node compare_slot(const struct mapping_walk *walk, __u64 node_entry, __u64 *entry)
{
	const struct maple_node *node = (const void *)(node_entry & ~(__u64)MAPLE_NODE_MASK);
	bool has_gaps = maple_type(node_entry) == bpf_core_enum_value(enum maple_type, maple_arange_64);
	const void *pivots = has_gaps ? (const void *)&node->ma64.pivot : &node->mr64.pivot;
	const void *slots = has_gaps ? (const void *)&node->ma64.slot : &node->mr64.slot;
	__u64 pivot_count = (has_gaps ? bpf_core_field_size(node->ma64.pivot)
				      : bpf_core_field_size(node->mr64.pivot)) / sizeof(__u64);
	__u64 slot = walk->slot, pivot;

	if (slot < pivot_count) {
		if (bpf_probe_read_kernel(&pivot, sizeof(pivot), pivots + slot * sizeof(pivot)))
			return WAS_CHANGED;
		if (pivot < walk->address && (pivot || !slot))
			return COMPARED;
	}
	return bpf_probe_read_kernel(entry, sizeof(*entry), slots + slot * sizeof(*entry)) ? WAS_CHANGED : HAS_ENTRY;
}

/* One slot of one node. If something was changed meanwhile the walk begins again. */
static long mapping_round(__u32 round, struct mapping_walk **place)
{
	struct mapping_walk *walk = *place;
	struct mm_struct *mm = bpf_get_current_task_btf()->mm;
	__u64 node = walk->entry, entry = 0;
	enum step_in_node step;

	if (!node) {
		if (walk->walks++ >= MAPLE_WALKS)
			return LAST_ROUND;
		node = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root);
		if ((node & MAPLE_ROOT_KIND) != MAPLE_ROOT_IS_NODE)
			return LAST_ROUND;
		walk->entry = node;
		walk->slot = 0;
	}
	step = compare_slot(walk, node, &entry);
	if (step == COMPARED) {
		walk->slot++;
		return NEXT_ROUND;
	}
	walk->slot = 0;
	walk->entry = entry;
	if (step == WAS_CHANGED || maple_type(node) != bpf_core_enum_value(enum maple_type, maple_leaf_64))
		return NEXT_ROUND;
	if (is_mapping_of((struct vm_area_struct *)entry, mm, walk->address)) {
		walk->slot = MAPPING_IS_FOUND;
		return LAST_ROUND;
	}
	walk->entry = 0;
	return NEXT_ROUND;
}

/*
 * The mapping of the current process; null if there is none. Call it under RCU; the mapping can leave the tree at
 * any time. Use only probe reads on it.
 * `walk`: memory for the walk, so that it need not be on the stack.
 */
static __always_inline struct vm_area_struct *mapping_at(__u64 address, struct mapping_walk *walk)
{
	walk->address = address;
	walk->entry = unknown_zero;
	walk->slot = unknown_zero;
	walk->walks = unknown_zero;
	bpf_loop(MAPLE_WALKS * MAPLE_MOST_LEVELS * MAPLE_MOST_SLOTS, mapping_round, &walk, 0);
	return walk->slot == MAPPING_IS_FOUND ? (struct vm_area_struct *)walk->entry : 0;
}

#endif
