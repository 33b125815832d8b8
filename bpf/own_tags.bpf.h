/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The tags that programs give their own threads, by <tracectl/tag.h>.
 *
 * A program keeps the tag of a thread in memory of that thread, and hits a probe whenever it changes the
 * tag. From a hit of that probe only the address of this memory is taken; each later hit of the thread
 * reads the tag there. So the tag is right even after changes that no session saw.
 *
 * A record has a number for the tag. The text is in `own_tags` under that number until TC_OWN_TAGS others
 * have been seen, so readers check whether the entry still has the number.
 */
#ifndef TRACECTL_OWN_TAGS_BPF_H
#define TRACECTL_OWN_TAGS_BPF_H

#include "bpf/abi.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/marks.bpf.h"
#include "bpf/text.bpf.h"

/* Only its thread writes it. */
struct own_tag_place {
	__u64 state;		/* address of the thread's struct tc_own_tag_state */
	__u64 serial;		/* of the tag that has the number: */
	__u32 number;		/* 0: none yet, or TC_NO_OWN_TAG */
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct own_tag_place);
} own_tag_places SEC(".maps");

/* The members of the thread's state before its texts. */
struct own_tag_head {
	__u64 check;
	__u64 serial;
};

/*
 * False if something else is at the address, or nothing: the library with the state may have been unloaded,
 * or the thread may have executed another program.
 */
static __always_inline bool read_head(const struct own_tag_place *place, struct own_tag_head *head)
{
	return !bpf_probe_read_user(head, sizeof(*head), (const void *)place->state) &&
	       head->check == (TC_OWN_TAG_CHECK ^ place->state);
}

/* Reads the text of a serial that was just read. No change can happen in between: only the thread itself makes one. */
static __always_inline bool read_text(const struct own_tag_place *place, __u64 serial,
				      char text[TC_OWN_TAG_LEN])
{
	__u64 at = place->state + __builtin_offsetof(struct tc_own_tag_state, texts) +
		   (serial & 1) * TC_OWN_TAG_LEN;

	if (bpf_probe_read_user(text, TC_OWN_TAG_LEN, (const void *)at))
		return false;
	text[TC_OWN_TAG_LEN - 1] = 0;
	return true;
}

static __always_inline struct own_tag_place *own_tag_place(__u32 session)
{
	struct tc_session *state = bpf_map_lookup_elem(&sessions, &session);

	if (!state || !state->has_own_tags)
		return 0;
	return bpf_task_storage_get(&own_tag_places, bpf_get_current_task_btf(), 0, 0);
}

/* Notes the address at which the thread keeps its tag. */
__on_its_own int learn_tag(__u32 session, __u64 address)
{
	struct tc_session *state = bpf_map_lookup_elem(&sessions, &session);
	struct own_tag_place *place =
		bpf_task_storage_get(&own_tag_places, bpf_get_current_task_btf(), 0,
				     BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!place) {
		if (state)
			__sync_fetch_and_add(&state->marks_lost, 1);
		return 0;
	}
	place->state = address;
	place->number = 0;
	return 0;
}

static __always_inline struct tc_own_tag *own_tag_of(__u32 number)
{
	__u32 index = number % TC_OWN_TAGS;

	return bpf_map_lookup_elem(&own_tags, &index);
}

static __always_inline bool is_kept(__u32 number)
{
	const struct tc_own_tag *tag = own_tag_of(number);

	return tag && *(volatile __u32 *)&tag->number == number;
}

/*
 * Stores the text, and returns the number by which readers find it. If the entry is still being written for an
 * older number, at least TC_OWN_TAGS below this one, the text is not stored, and readers do not find it.
 */
static __always_inline __u32 keep_own_tag(const char text[TC_OWN_TAG_LEN])
{
	__u32 number = (__sync_fetch_and_add(&last_own_tag, 1) + 1) | TC_OWN_TAG;
	struct tc_own_tag *tag = own_tag_of(number);

	if (!tag || __sync_lock_test_and_set(&tag->number, TC_BEING_WRITTEN) == TC_BEING_WRITTEN)
		return number;
	__builtin_memcpy(tag->text, text, sizeof(tag->text));
	__sync_lock_test_and_set(&tag->number, number);
	return number;
}

static __always_inline bool is_numbered(const struct own_tag_place *place, __u64 serial)
{
	return place->number && place->serial == serial &&
	       (place->number == TC_NO_OWN_TAG || is_kept(place->number));
}

/* The number of the thread's own tag; 0 if it has none that can be read. */
__on_its_own __u32 number_of_own_tag(__u32 session)
{
	struct own_tag_place *place = own_tag_place(session);
	struct own_tag_head head;
	char text[TC_OWN_TAG_LEN] __attribute__((aligned(8)));

	if (!place || !read_head(place, &head))
		return 0;
	if (!is_numbered(place, head.serial)) {
		if (!read_text(place, head.serial, text))
			return 0;
		place->number = text[0] ? keep_own_tag(text) : TC_NO_OWN_TAG;
		place->serial = head.serial;
	}
	return place->number == TC_NO_OWN_TAG ? 0 : place->number;
}

/* The tag for a record: the session's tag of the thread, or the thread's own if there is none. */
static __always_inline __u32 tag_of_thread(__u32 session)
{
	__u32 tag = mark_of_thread(session) & TC_MARK_TAG;

	return tag ? tag : number_of_own_tag(session);
}

static __always_inline void set_length(struct string *string, const __u32 most)
{
	__u32 i;

	for (i = 0; i < most && string->bytes[i]; i++)
		string->length = i + 1;
}

/* The string is empty if there is no tag. */
__on_its_own bool string_of_tag(struct string *string, __u32 session)
{
	__u32 number = find_mark(session) & TC_MARK_TAG, index;
	const struct own_tag_place *place;
	const struct tc_tag *tag;
	struct own_tag_head head;

	if (!string)
		return false;
	clear_string(string);
	if (number) {
		index = session * TC_MAX_TAGS + number;
		tag = bpf_map_lookup_elem(&tags, &index);
		if (tag)
			__builtin_memcpy(string->bytes, tag->bytes, TC_TAG_LEN);
		set_length(string, TC_TAG_LEN);
		return true;
	}
	place = own_tag_place(session);
	if (place && read_head(place, &head) && read_text(place, head.serial, string->bytes))
		set_length(string, TC_OWN_TAG_LEN);
	return true;
}

#endif
