/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What a hook does with a hit. Programs can be preempted and two can interleave on one CPU, so
 * everything is counted with atomic adds, and a record is built in its reserved memory.
 */
#ifndef TRACECTL_ACT_BPF_H
#define TRACECTL_ACT_BPF_H

static __noinline void count_by(const struct tc_hook *hook, const struct thread *thread,
				     struct tc_stat *stat)
{
	struct tc_key key = { .stat = hook->stat };
	__u64 zero = 0, *count;

	if (hook->flags & TC_COUNT_BY_PID)
		key.pid = thread->pid;
	if (hook->flags & TC_COUNT_BY_TID)
		key.tid = thread->tid;
	count = bpf_map_lookup_elem(&counts, &key);
	if (!count) {
		/* Somebody else may be first: then the entry is there all the same. */
		bpf_map_update_elem(&counts, &key, &zero, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&counts, &key);
	}
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		__sync_fetch_and_add(&stat->dropped_keys, 1);
}

static __always_inline void fill_args(struct tc_record *record, const struct tc_layout *layout,
				      struct pt_regs *ctx, __u32 room)
{
	struct registers registers;
	__u16 valid = 0;
	__u32 i;

	if (room)
		copy_registers(&registers, ctx);
	for (i = 0; i < room; i++) {
		__u64 value = 0;

		if (i < layout->arg_count && read_arg(&layout->args[i], &registers, &value))
			valid |= 1 << i;
		record->args[i] = value;
	}
	record->arg_valid = valid;
	record->arg_count = layout->arg_count;
	record->arg_room = room;
}

static __always_inline __u64 wakeup_flag(void)
{
	if (!*(volatile __u32 *)&reader_sleeps)
		return BPF_RB_NO_WAKEUP;
	reader_sleeps = 0;
	return BPF_RB_FORCE_WAKEUP;
}

static __always_inline bool emit_sized(struct hit *hit, const struct tc_hook *hook, void *ring,
				       const struct tc_layout *layout, struct tc_ring_loss *loss,
				       const __u32 room)
{
	const struct thread *thread = thread_of(hit);
	struct tc_record *record = bpf_ringbuf_reserve(ring, sizeof(*record) + room * 8, 0);

	if (!record)
		return false;
	/* After reserving: see events/merger.h for what the order of these two is good for. */
	record->ts_ns = bpf_ktime_get_boot_ns();
	record->epoch = hit->epoch;
	record->ring_dropped = *(volatile __u64 *)&loss->dropped;
	record->source = hook->source;
	record->pid = thread->pid;
	record->tid = thread->tid;
	record->kind = TC_RECORD_HIT;
	record->pad = 0;
	record->pad2 = 0;
	__builtin_memcpy(record->comm, thread->comm, sizeof(record->comm));
	fill_args(record, layout, hit->ctx, room);
	bpf_ringbuf_submit(record, wakeup_flag());
	return true;
}

/* A ring wants sizes known to the verifier: a few classes, so that small records stay small. */
static __always_inline bool emit(struct hit *hit, const struct tc_hook *hook, void *ring,
				 const struct tc_layout *layout, struct tc_ring_loss *loss)
{
	if (layout->arg_count == 0)
		return emit_sized(hit, hook, ring, layout, loss, 0);
	if (layout->arg_count <= 3)
		return emit_sized(hit, hook, ring, layout, loss, 3);
	if (layout->arg_count <= 6)
		return emit_sized(hit, hook, ring, layout, loss, 6);
	return emit_sized(hit, hook, ring, layout, loss, TC_MAX_ARGS);
}

static __always_inline void stream(struct hit *hit, const struct tc_hook *hook,
				   struct tc_stat *stat, __u32 cpu)
{
	__u32 ring_index = hook->session * cpu_count + cpu;
	__u32 layout_index = hook->layout;
	struct tc_layout *layout = bpf_map_lookup_elem(&layouts, &layout_index);
	struct tc_ring_loss *loss = bpf_map_lookup_elem(&ring_losses, &ring_index);
	void *ring = bpf_map_lookup_elem(&rings, &ring_index);

	if (!layout || !loss || !ring) {
		__sync_fetch_and_add(&stat->dropped_ring, 1);
		return;
	}
	if (emit(hit, hook, ring, layout, loss))
		return;
	__sync_fetch_and_add(&stat->dropped_ring, 1);
	__sync_fetch_and_add(&loss->dropped, 1);
}

static __always_inline void act(struct hit *hit, const struct tc_hook *hook)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 stat_index = cpu * TC_MAX_STATS + hook->stat;
	struct tc_stat *stat = bpf_map_lookup_elem(&stats, &stat_index);

	if (!stat)
		return;
	test_delay();
	__sync_fetch_and_add(&stat->hits, 1);
	if (hook->flags & (TC_COUNT_BY_PID | TC_COUNT_BY_TID))
		count_by(hook, thread_of(hit), stat);
	if (hook->flags & TC_EVENT)
		stream(hit, hook, stat, cpu);
}

#endif
