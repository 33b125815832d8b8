/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * A link cannot shrink: if some of its sites are removed, a new link replaces it for the rest, and until
 * the old one is closed a hit runs the program of both. Each loads the epoch itself, so a switch can
 * happen between the two. Exactly one may take the hit:
 *
 *   newer link, old epoch     ends: the generation names the older link
 *   newer link, new epoch     takes it, and leaves a token with the thread
 *   older link, old epoch     takes it
 *   older link, new epoch     takes it unless it finds the token of this hit; on_count() for the settings before
 *
 * At each hit the newer link runs first, because the kernel adds consumers of a uprobe at the head of
 * their list (kernel/events/uprobes.c, consumer_add); a hit that began before it was added runs the
 * older one only. If there is no memory for a token, the older link takes the hit.
 *
 * The older link is closed, and the flag removed, when all hits that began before the switch have
 * ended: tests/model/switch.pml, SHRINK. A thread hits at most two slots at an instruction, one armed in
 * its process and one armed in all; both may be handed over, so there are two tokens.
 */
#ifndef TRACECTL_HANDOVER_BPF_H
#define TRACECTL_HANDOVER_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"

struct token {
	__u32 link;	/* the one that took the hit; 0: none */
	__u32 slot;
};

struct tokens {
	struct token of_one;
	struct token of_all;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct tokens);
} tokens SEC(".maps");

static __always_inline struct token *token_of_thread(enum tc_handover handover, __u64 flags)
{
	struct tokens *both = bpf_task_storage_get(&tokens, bpf_get_current_task_btf(), 0, flags);

	if (!both)
		return 0;
	return handover == TC_HANDOVER_OF_ONE ? &both->of_one : &both->of_all;
}

static __always_inline bool leave_token(enum tc_handover handover, __u32 link, __u32 slot)
{
	struct token *token = token_of_thread(handover, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!token)
		return false;
	token->link = link;
	token->slot = slot;
	return true;
}

static __always_inline bool take_token(enum tc_handover handover, __u32 link, __u32 slot)
{
	struct token *token = token_of_thread(handover, 0);

	if (!token || token->link != link || token->slot != slot)
		return false;
	token->link = 0;
	return true;
}

/* Whether the link takes this hit, though it is not the only one that serves the slot. */
static __noinline bool takes_in_handover(__u64 served_by, __u32 link, __u32 slot)
{
	enum tc_handover handover = served_by >> 32;
	__u32 newer = served_by;

	if (handover == TC_NO_HANDOVER)
		return false;
	if (newer == link)
		return leave_token(handover, newer, slot);
	return !take_token(handover, newer, slot);
}

#endif
