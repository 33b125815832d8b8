/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Function graphs. A root's call opens a graph in its thread; while it is open the calls of all hooks
 * of its session that are TC_IN_GRAPH are parts of it. Records of a call's beginning and end have its
 * number, so that readers need not pair them by name or order, and pair none wrongly if some are lost.
 */
#ifndef TRACECTL_GRAPH_BPF_H
#define TRACECTL_GRAPH_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/shares.bpf.h"

/* The number of calls of the session's graphs that are open in the current thread. */
static __always_inline __u32 graph_depth_of(const struct calls *calls)
{
	return calls ? calls->graph_depth : 0;
}

/* Whether the hook takes only hits within a graph, and this is none. */
static __always_inline bool is_outside_graph(const struct tc_hook *hook, const struct calls *calls)
{
	return hook->flags & TC_WITHIN_GRAPH && !graph_depth_of(calls);
}

/*
 * A function that ends by a jump to another one is replaced by it: that one returns to the same caller, and is
 * a part of the graph even if no call of the graph is open any more. `entry`: the start of the function that
 * is called; `sp`: the place of its return address.
 */
static __always_inline bool is_jumped_to(const struct calls *calls, __u64 entry, __u64 sp)
{
	return calls && calls->jumped_to == entry && calls->jumped_sp == sp;
}

/* The current thread's or goroutine's calls, if the hook needs them; a lookup is expensive. */
static __always_inline struct calls *calls_for(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook)
{
	return hook->flags & (TC_CALL | TC_WITHIN_GRAPH) ? calls_by(ctx, hook) : 0;
}

static __always_inline void add_path(const struct tc_path *path)
{
	__u64 number;

	if (!take_room_for(path->session, TC_TABLE_PATHS))
		return;
	number = __sync_fetch_and_add(&last_path, 1) + 1;
	/* If another program is first its number stays, and this one is not used. */
	if (bpf_map_update_elem(&paths, path, &number, BPF_NOEXIST))
		give_room_of(path->session, TC_TABLE_PATHS);
}

/* The number of the path, or TC_NO_PATH. */
static __noinline __u64 path_to(__u64 around, __u32 source, __u32 session)
{
	struct tc_path path = { .around = around, .source = source, .session = session };
	__u64 *known;

	if (around == TC_NO_PATH)
		return TC_NO_PATH;
	known = bpf_map_lookup_elem(&paths, &path);
	if (!known) {
		add_path(&path);
		known = bpf_map_lookup_elem(&paths, &path);
	}
	return known ? *known : TC_NO_PATH;
}

/* The path of a call that is being opened. A call that is no part of the graph has that of the call around it. */
static __always_inline __u64 path_of(struct calls *calls, const struct tc_spec *spec, __u32 source)
{
	const struct call *around;
	__u64 so_far;

	if (spec->at_return & TC_KEEP_PATH)
		calls->has_paths = true;
	if (!calls->has_paths)
		return 0;
	around = calls->depth ? call_at(calls, calls->depth - 1) : 0;
	so_far = around ? around->path : 0;
	return spec->at_return & TC_KEEP_PATH ? path_to(so_far, source, spec->session) : so_far;
}

#endif
