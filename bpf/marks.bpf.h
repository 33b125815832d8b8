/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Effects of a hit on later hits: tag(), silent and trigger().
 *
 * A session marks threads: with a tag, which its later records of the thread have (tags that programs give
 * their threads: bpf/own_tags.bpf.h), and as silent, so that it streams nothing of the thread. The marks of
 * all sessions are stored with the thread, so that they end with it, and no other thread writes them. They
 * become void when the session's number changes (tc_session.marks), so nobody has to search for them when a
 * session ends or restarts.
 *
 * A gate is one word of a session. Hooks of the session that are TC_GATED are in force while it is open. The
 * hit itself writes the gate, so it applies to everything that any thread does after the hit.
 */
#ifndef TRACECTL_MARKS_BPF_H
#define TRACECTL_MARKS_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/notices.bpf.h"

struct thread_marks {
	struct tc_mark of[TC_MAX_SESSIONS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_marks);
} marks SEC(".maps");

/* A mark in one word, 0 if there is none. */
enum { TC_MARK_TAG = 0xffff, TC_MARK_SILENT = 1 << 16 };

static __always_inline struct tc_mark *mark_in_storage(__u32 session, __u64 flags)
{
	struct thread_marks *all;

	if (session >= TC_MAX_SESSIONS)
		return 0;
	all = bpf_task_storage_get(&marks, bpf_get_current_task_btf(), 0, flags);
	return all ? &all->of[session] : 0;
}

/* For a session without marks this costs one load. */
static __always_inline __u32 find_mark(__u32 session)
{
	struct tc_session *state = bpf_map_lookup_elem(&sessions, &session);
	struct tc_mark *mark;

	if (!state || !state->marks)
		return 0;
	mark = mark_in_storage(session, 0);
	if (!mark || mark->under != state->marks)
		return 0;
	return mark->tag | (mark->silent ? TC_MARK_SILENT : 0);
}

__on_its_own __u32 mark_of_thread(__u32 session)
{
	return find_mark(session);
}

static __always_inline bool is_silent(__u32 session)
{
	return mark_of_thread(session) & TC_MARK_SILENT;
}

/* To unmark a thread that has no marks takes no memory. */
__on_its_own int mark_thread(__u32 session, __u32 to)
{
	struct tc_session *state = bpf_map_lookup_elem(&sessions, &session);
	struct tc_mark *mark;

	if (!state)
		return 0;
	mark = mark_in_storage(session, to ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	if (mark) {
		mark->under = state->marks;
		mark->tag = to & TC_MARK_TAG;
		mark->silent = to & TC_MARK_SILENT ? 1 : 0;
	} else if (to) {
		__sync_fetch_and_add(&state->marks_lost, 1);
	}
	return 0;
}

__on_its_own int silence_thread(__u32 session, bool silent)
{
	__u32 old = mark_of_thread(session), to = old & ~TC_MARK_SILENT;

	if (silent)
		to |= TC_MARK_SILENT;
	return to == old ? 0 : mark_thread(session, to);
}

__on_its_own int tag_thread(__u32 session, __u32 tag)
{
	__u32 old = mark_of_thread(session), to = (old & ~TC_MARK_TAG) | (tag & TC_MARK_TAG);

	return to == old ? 0 : mark_thread(session, to);
}

static __always_inline bool gate_is_open(__u32 session)
{
	const struct tc_session *state = bpf_map_lookup_elem(&sessions, &session);

	return state && *(volatile __u32 *)&state->is_open;
}

static __always_inline bool is_shut(const struct tc_hook *hook)
{
	return hook->flags & TC_GATED && !gate_is_open(hook->session);
}

static __always_inline void pull(const struct tc_trigger *trigger, __u32 asking)
{
	__u32 session = trigger->session;
	struct tc_session *state = bpf_map_lookup_elem(&sessions, &session);

	if (trigger->does == TC_ASK_FOR_DUMP)
		ask_for_dump(session, asking);
	/* Read first: to write a cache line on many CPUs is expensive. */
	else if (state && *(volatile __u32 *)&state->is_open != trigger->does)
		*(volatile __u32 *)&state->is_open = trigger->does;
}

/* In the order in which they were written: the last one wins. */
static __noinline int pull_triggers(const struct tc_spec *spec)
{
	__u32 i;

	for (i = 0; i < TC_MAX_TRIGGERS; i++)
		if (i < spec->trigger_count)
			pull(&spec->triggers[i], spec->session);
	return 0;
}

/* As in Erlang, the event of a hit that silences is not streamed, and that of a hit that ends the silence is. */
static __always_inline void take_effect_before(const struct tc_spec *spec)
{
	if (spec->trigger_count)
		pull_triggers(spec);
	if (spec->effects & (TC_SILENCE | TC_UNSILENCE))
		silence_thread(spec->session, spec->effects & TC_SILENCE);
}

/* The hit's own record and keys have the old tag: the new one applies to later hits. */
static __always_inline void take_effect_behind(const struct tc_spec *spec)
{
	if (spec->effects & TC_SET_TAG)
		tag_thread(spec->session, spec->tag);
}

#endif
