/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Memory that is not present yet: a page of a file that was never touched, or that was swapped out. The
 * ordinary programs cannot wait for it. Here a hit has two steps:
 *
 *   1. it tries to read everything that its hooks will read, and reads missing pages by a helper that
 *      sleeps until the page is there;
 *   2. the ordinary program runs, under RCU: it loads the epoch, and does not sleep.
 *
 * So for a switch a sleeping hit has not begun: nothing waits for it, it has only read its settings, and
 * it acts under the epoch that is in force when it wakes. If that is another one it starts again. A value
 * whose memory is gone again between the steps is null, as in other programs.
 *
 * Newer kernels place frames of functions of this program that take 64 bytes or more in memory of the
 * CPU, one for each function (bpf/own_frames.bpf.h; BPF_PRIV_STACK_MIN_SIZE), even if they sleep and
 * another program runs on that CPU. So no frame that exists while a hit sleeps may be that large, rounded
 * up to 16: 48 bytes at most. Work that needs more is done in functions that return before.
 *
 * Closing a link waits for all hits that sleep at its sites, and RCU tasks trace for all sleepers. So none
 * may sleep for ever: a hit does not wait for pages that another process provides, by userfaultfd(2) or
 * FUSE, nor for those of devices and network file systems. A mapping cannot be checked and read in one
 * step: a program that maps such memory in exactly that moment sleeps until it is killed.
 */
#ifndef TRACECTL_PRESENT_BPF_H
#define TRACECTL_PRESENT_BPF_H

#include "bpf/abi.h"
#include "bpf/act.bpf.h"
#include "bpf/desk.bpf.h"
#include "bpf/gate.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/machine.bpf.h"
#include "bpf/mapping.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/match.bpf.h"
#include "bpf/text.bpf.h"

extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;

/* The kernel's number iterators (Linux 6.4): loops that need no frame. Older kernels refuse only this program. */
#ifndef BPF_MEMSX /* of the headers of Linux 6.6 and later, which have this structure */
struct bpf_iter_num {
	__u64 opaque[1];
} __attribute__((aligned(8)));
#endif

extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym __weak;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym __weak;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym __weak;

enum {
	MOST_PAGES = 4,		/* read in for one value */
	PAGE = 4096,
	EPOCHS = 16,		/* under which one hit tries: each can change while a page is read in */
};

/* include/linux/mm.h */
enum { VM_PFNMAP = 0x400, VM_IO = 0x4000 };

/* include/uapi/linux/stat.h */
enum { FILE_TYPE = 0170000, REGULAR_FILE = 0100000 };

/* Whether a file system's pages come from memory or a disk: include/uapi/linux/magic.h and their own headers. */
static __always_inline bool is_waitable_file_system(unsigned long magic)
{
	switch (magic) {
	case 0xEF53:		/* ext2, ext3, ext4 */
	case 0x58465342:	/* XFS */
	case 0x9123683E:	/* btrfs */
	case 0xF2F52010:	/* F2FS */
	case 0xE0F5E1E2:	/* EROFS */
	case 0x73717368:	/* squashfs */
	case 0x01021994:	/* tmpfs, memfd, shared memory */
	case 0x958458F6:	/* hugetlbfs */
		return true;
	}
	return false;
}

static __always_inline bool has_userfaultfd(struct vm_area_struct *vma)
{
	return bpf_core_field_exists(vma->vm_userfaultfd_ctx.ctx) &&
	       BPF_CORE_READ(vma, vm_userfaultfd_ctx.ctx);
}

static __always_inline bool is_of_waitable_file(struct file *file)
{
	return (BPF_CORE_READ(file, f_inode, i_mode) & FILE_TYPE) == REGULAR_FILE &&
	       is_waitable_file_system(BPF_CORE_READ(file, f_inode, i_sb, s_magic));
}

static __always_inline bool comes_by_itself(struct vm_area_struct *vma)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);

	if (BPF_CORE_READ(vma, vm_flags) & (VM_PFNMAP | VM_IO) || has_userfaultfd(vma))
		return false;
	return !file || is_of_waitable_file(file);
}

/* Whether a read of the page at the address may wait for it. */
static __noinline bool is_waitable(__u64 address)
{
	struct mm_struct *mm = bpf_get_current_task_btf()->mm;
	struct desk *desk = desk_of_thread();
	struct vm_area_struct *vma;
	bool waitable;

	if (!desk)
		return false;
	bpf_rcu_read_lock();
	vma = mapping_at(address, &desk->walk);
	/* Checked again after that: its memory may have become that of another mapping. */
	waitable = vma && comes_by_itself(vma) && is_mapping_of(vma, mm, address);
	bpf_rcu_read_unlock();
	return waitable;
}

/* Sleeps until the page is there. False if it is not waited for, or does not exist. */
static __noinline bool bring_in(__u64 address)
{
	char any;

	return is_waitable(address) && !bpf_copy_from_user(&any, 1, (const void *)address);
}

/*
 * Reads in the page of data that begins at `address` and could not be read. If that was done before, the missing
 * part is on the next page; no expression reads further at once.
 */
static __always_inline bool bring_in_from(__u64 address, __u64 before)
{
	__u64 next = (address | (PAGE - 1)) + 1;

	if (address != before)
		return bring_in(address);
	return next - address < TC_STR_LEN && bring_in(next);
}

extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;

/*
 * This program sleeps, so it may have no tail call, and its large frames belong to its CPU (own_frames.bpf.h).
 * It disables preemption while one of them is in use, and sleeps only in functions with small frames. The program
 * is not loaded on kernels that have such frames and refuse this (daemon/kernel/programs.cpp).
 */
static __always_inline bool has_frames_of_cpu(void)
{
	struct bpf_subprog_info *any = 0;

	return bpf_core_field_exists(any->priv_stack_mode);
}

static __always_inline void keep_cpu(void)
{
	if (has_frames_of_cpu())
		bpf_preempt_disable();
}

static __always_inline void yield_cpu(void)
{
	if (has_frames_of_cpu())
		bpf_preempt_enable();
}

/* Whether the value could be read; if not, `at` is the address that could not, or 0. */
__on_its_own bool try_value(bpf_user_pt_regs_t *ctx, __u64 code, __u64 value, __u64 *at)
{
	struct string string = {};
	struct tc_value what;

	if (!at)
		return false;
	__builtin_memcpy(&what, &value, sizeof(what));
	if (what.kind == TC_VALUE_COMM || what.kind == TC_VALUE_TAG || what.kind == TC_VALUE_STACK)
		return true;
	if (!evaluate(ctx, code, value, at, 0))
		return false;
	if (what.kind == TC_VALUE_STR) {
		if (read_string(&string, *at, what.most_bytes))
			return true;
		*at = address_of_string(*at, what.most_bytes);
		return false;
	}
	return what.kind != TC_VALUE_BYTES || read_bytes(&string, *at, what.most_bytes);
}

static __always_inline bool is_in_force(__u64 under)
{
	return *(volatile __u64 *)&epoch == under;
}

/* Reads in all pages that the value needs. Returns the value, or 0 if it has none. */
__on_its_own __u64 bring_in_value(bpf_user_pt_regs_t *ctx, __u64 code, __u64 value, __u64 under)
{
	__u64 before = 0;
	__u32 i;

	for (i = 0; i <= MOST_PAGES; i++) {
		__u64 at = 0;
		bool could_be_read;

		/* After a switch the entries that a hook refers to may have been reused. */
		if (!is_in_force(under))
			return 0;
		keep_cpu();
		could_be_read = try_value(ctx, code, value, &at);
		yield_cpu();
		if (could_be_read)
			return at;
		if (i == MOST_PAGES || !at || !bring_in_from(at, before))
			return 0;
		before = at;
	}
	return 0;
}

__on_its_own int bring_in_args(bpf_user_pt_regs_t *ctx, __u64 code, __u64 under)
{
	__u32 layout_index = code >> 32, i;
	const struct tc_layout *layout = bpf_map_lookup_elem(&layouts, &layout_index);

	if (!layout)
		return 0;
	for (i = 0; i < TC_MAX_ARGS; i++) {
		struct tc_value arg = { .kind = TC_VALUE_OPERAND, .from = TC_FROM_ARG, .a = i };

		if (layout->args[i].place == TC_ARG_MEMORY)
			bring_in_value(ctx, code, packed(&arg), under);
	}
	return 0;
}

__on_its_own int bring_in_aggregate(bpf_user_pt_regs_t *ctx, __u64 code, __u64 under,
				    const struct tc_aggregate *aggregate)
{
	__u32 i;

	if (!aggregate)
		return 0;
	if (aggregate->kind != TC_COUNT && aggregate->kind != TC_TIME)
		bring_in_value(ctx, code, packed(&aggregate->value), under);
	for (i = 0; i < TC_KEY_PARTS; i++)
		if (i < aggregate->key_count)
			bring_in_value(ctx, code, packed(&aggregate->keys[i]), under);
	return 0;
}

static __always_inline void bring_in_values(bpf_user_pt_regs_t *ctx, __u64 code, __u64 under,
					    const struct tc_spec *spec)
{
	__u32 i;

	for (i = 0; i < TC_MAX_VALUES; i++)
		if (i < spec->value_count)
			bring_in_value(ctx, code, packed(&spec->values[i]), under);
	for (i = 0; i < TC_MAX_AGGREGATES; i++)
		if (i < spec->aggregate_count)
			bring_in_aggregate(ctx, code, under, &spec->aggregates[i]);
	if (spec->pair)
		bring_in_aggregate(ctx, code, under, &spec->matched_by);
}

/* For a hit that the condition does not take nothing is read in. */
__on_its_own int bring_in_for(bpf_user_pt_regs_t *ctx, const struct tc_hook *hook, __u64 under)
{
	const struct tc_spec *spec = 0;
	__u32 index;

	if (!hook)
		return 0;
	index = hook->spec;
	if (index)
		spec = bpf_map_lookup_elem(&specs, &index);
	if (spec && spec->condition_kind != TC_NO_CONDITION &&
	    !bring_in_value(ctx, code_of(hook), packed(&spec->condition), under) &&
	    !(spec->at_return & TC_CONDITION_AT_RETURN))
		return 0;
	if (hook->flags & TC_EVENT && !(spec && spec->value_count))
		bring_in_args(ctx, code_of(hook), under);
	if (spec)
		bring_in_values(ctx, code_of(hook), under, spec);
	return 0;
}

static __always_inline void bring_in_for_generation(bpf_user_pt_regs_t *ctx, __u64 under, __u64 which)
{
	const struct tc_slot *slot = slot_of(bpf_get_attach_cookie(ctx));
	const struct tc_hook *hook;
	struct bpf_iter_num numbers;
	__u32 next;

	if (!slot || !slot->generation[which & 1].hook_count)
		return;
	hook = &slot->generation[which & 1].first;
	bpf_iter_num_new(&numbers, 0, TC_MAX_HOOKS_OF_SLOT);
	while (bpf_iter_num_next(&numbers)) {
		if (is_for_current(hook))
			bring_in_for(ctx, hook, under);
		next = hook->next;
		if (!next)
			break;
		hook = further_hook(next);
		if (!hook)
			break;
	}
	bpf_iter_num_destroy(&numbers);
}

/*
 * During a handover a program that cannot sleep may take this hit, under the epoch that is staged now
 * (bpf/handover.bpf.h). So the memory that it would read is read in too. Settings there may be half written,
 * but are used within the same bounds.
 */
static __always_inline void bring_in_for_all(bpf_user_pt_regs_t *ctx, __u64 under)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	const struct tc_slot *slot = slot_of(cookie);

	if (!slot)
		return;
	if (*(volatile __u32 *)&in_force[under & 1])
		bring_in_for_generation(ctx, under, under);
	if (*(volatile __u64 *)&slot->generation[under & 1].link != cookie >> TC_COOKIE_LINK_SHIFT)
		bring_in_for_generation(ctx, under, under + 1);
}

/* Like run_hooks(), but with the frames of fewer functions. */
static __always_inline void run_hooks_awake(bpf_user_pt_regs_t *ctx, struct hit *hit)
{
	struct tc_generation *generation = generation_of(ctx, hit, false);
	const struct tc_hook *hook;
	struct bpf_iter_num numbers;

	if (!generation)
		return;
	hook = &generation->first;
	hit->taken = false;
	bpf_iter_num_new(&numbers, 0, TC_MAX_HOOKS_OF_SLOT);
	while (bpf_iter_num_next(&numbers)) {
		if (!hit->taken || hook->flags & TC_FIRST_OF_GROUP) {
			hit->taken = takes(hook);
			if (hit->taken)
				act(hit, hook, false);
		}
		hit->next = hook->next;
		hook = take_next_hook(&hit->next);
		if (!hook)
			break;
	}
	bpf_iter_num_destroy(&numbers);
}

/*
 * A function of its own, to be called with preemption disabled, because its frame is large. Returns false and does
 * nothing if the epoch is another, unless `any_will_do`.
 */
__on_its_own bool run_awake(bpf_user_pt_regs_t *ctx, __u64 under, bool any_will_do)
{
	struct hit hit;

	hit.epoch = load_epoch();
	if (hit.epoch != under && !any_will_do)
		return false;
	run_hooks_awake(ctx, &hit);
	return true;
}

enum { DESK_TRIES = 4 };	/* each that fails was preempted by one that makes such memory */

/* Made here, where it may wait for memory, and found by the code that needs it later. */
static __always_inline void make_desk(void)
{
	__u32 i;

	for (i = 0; i < DESK_TRIES; i++)
		if (desk_of_thread())
			return;
}

SEC("?uprobe.s")
int on_site_asleep(bpf_user_pt_regs_t *ctx)
{
	struct bpf_iter_num epochs;
	bool has_run;
	int *i;

	make_desk();
	bpf_iter_num_new(&epochs, 0, EPOCHS);
	while ((i = bpf_iter_num_next(&epochs))) {
		__u64 under = *(volatile __u64 *)&epoch;

		bring_in_for_all(ctx, under);
		bpf_rcu_read_lock();
		keep_cpu();
		has_run = run_awake(ctx, under, *i == EPOCHS - 1);
		yield_cpu();
		bpf_rcu_read_unlock();
		if (has_run)
			break;
	}
	bpf_iter_num_destroy(&epochs);
	return 0;
}

#endif
