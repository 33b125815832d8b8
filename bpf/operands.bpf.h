/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The operands of expressions: registers, arguments, and facts about the hit. */
#ifndef TRACECTL_OPERANDS_BPF_H
#define TRACECTL_OPERANDS_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/cpu.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/own_stack.bpf.h"
#include "bpf/thread.bpf.h"

static __always_inline __u64 extended(__u64 value, __u8 size, bool is_signed)
{
	__u32 unused = (64 - 8 * size) & 63;

	return is_signed ? (__u64)((__s64)(value << unused) >> unused) : value << unused >> unused;
}

/* An argument as it was when the call began. */
static __always_inline bool kept_arg(const struct ended *ended, __u32 number, __u64 *value)
{
	checked_as_used(number);
	if (number >= TC_CALL_ARGS)
		return false;
	*value = ended->args.value[number];
	return ended->args.valid >> number & 1;
}

static __always_inline bool read_memory(const struct tc_arg *arg, __u64 address, __u64 *value)
{
	switch (arg->size) {
	case 1: return !bpf_probe_read_user(value, 1, (void *)address);
	case 2: return !bpf_probe_read_user(value, 2, (void *)address);
	case 4: return !bpf_probe_read_user(value, 4, (void *)address);
	case 8: return !bpf_probe_read_user(value, 8, (void *)address);
	}
	return false;
}

/* An argument, not extended. False if it cannot be read; then the value is its address, or 0. */
static __always_inline bool read_arg_here(bpf_user_pt_regs_t *ctx, const struct tc_arg *arg, __u64 *value)
{
	__u64 address, loaded = 0;
	bool well;

	*value = 0;
	switch (arg->place) {
	case TC_ARG_CONSTANT:
		*value = arg->offset;
		return true;
	case TC_ARG_REGISTER:
		*value = (read_register(ctx, arg->base) >> (arg->value_shift & 63)) + arg->offset;
		return true;
	case TC_ARG_MEMORY:
		break;
	default:
		return false;
	}
	address = read_register(ctx, arg->base) + arg->offset;
	if (arg->index != TC_NO_REGISTER)
		address += read_register(ctx, arg->index) << (arg->scale_shift & 3);
	well = read_memory(arg, address, &loaded);
	*value = well ? loaded : address;
	return well;
}

/* The same as a function of its own, for callers with a frame to spare (bpf/loop.bpf.h). */
__on_its_own bool read_arg(bpf_user_pt_regs_t *ctx, const struct tc_arg *arg, __u64 *value)
{
	return arg && value && read_arg_here(ctx, arg, value);
}

static __always_inline bool load_arg(bpf_user_pt_regs_t *ctx, const struct tc_layout *layout,
				     const struct ended *ended, __u32 number, bool is_signed,
				     __u64 *value)
{
	const struct tc_arg *arg;
	__u64 loaded = 0;

	checked_as_used(number);
	if (number >= TC_MAX_ARGS)
		return false;
	arg = &layout->args[number];
	if (ended) {
		if (!kept_arg(ended, number, &loaded))
			return false;
	} else if (!read_arg_here(ctx, arg, &loaded)) {
		*value = loaded;
		return false;
	}
	*value = extended(loaded, arg->size, is_signed);
	return true;
}

static __always_inline bool load_retval(const struct ended *ended, __u8 type, __u64 *value)
{
	*value = extended(ended->retval, type & ~TC_RETVAL_SIGNED, type & TC_RETVAL_SIGNED);
	return ended->has_retval;
}

/* An operand in one word, because a function has at most five parameters. */
static __always_inline __u32 operand(__u8 from, __u8 number)
{
	return from | number << 8;
}

__on_its_own bool load_operand(bpf_user_pt_regs_t *ctx, const struct tc_layout *layout,
			       const struct ended *ended, __u32 operand, __u64 *value)
{
	__u8 from = operand, number = operand >> 8;

	if (!layout || !value)
		return false;
	*value = 0;
	switch (from) {
	case TC_FROM_ARG:
	case TC_FROM_ARG_SIGNED:
		return load_arg(ctx, layout, ended, number, from == TC_FROM_ARG_SIGNED, value);
	case TC_FROM_PID:
		*value = ids_of_current().pid;
		return true;
	case TC_FROM_TID:
		*value = ids_of_current().tid;
		return true;
	case TC_FROM_UID:
		*value = (__u32)bpf_get_current_uid_gid();
		return true;
	case TC_FROM_CPU:
		*value = bpf_get_smp_processor_id();
		return true;
	case TC_FROM_CGROUP:
		*value = bpf_get_current_cgroup_id();
		return true;
	case TC_FROM_TS:
		*value = bpf_ktime_get_boot_ns();
		return true;
	case TC_FROM_RETVAL:
		return ended && load_retval(ended, number, value);
	case TC_FROM_DURATION:
		if (!ended)
			return false;
		*value = ended->duration_ns;
		return true;
	case TC_FROM_BLOCKED:
	case TC_FROM_RUNNABLE:
		if (!ended || !ended->is_split)
			return false;
		*value = from == TC_FROM_BLOCKED ? ended->blocked_ns : ended->runnable_ns;
		return true;
	case TC_FROM_THROWN:
		if (!ended)
			return false;
		*value = ended->kind == TC_RECORD_UNWOUND;
		return true;
	}
	return false;
}

/* False if it has no value; then `value` is the address that could not be read, or 0. */
static __always_inline bool load(bpf_user_pt_regs_t *ctx, const struct tc_layout *layout,
				 const struct ended *ended, __u32 operand, __u64 *value)
{
	if ((__u8)operand != TC_FROM_STACK_BYTES)
		return load_operand(ctx, layout, ended, operand, value);
	*value = 0;
	return !ended && stack_bytes(ctx, value);
}

/* Stores the arguments at the beginning of a call. */
__on_its_own int keep_args(bpf_user_pt_regs_t *ctx, __u32 layout, struct call_args *to)
{
	const struct tc_layout *known = bpf_map_lookup_elem(&layouts, &layout);
	__u32 i;

	if (!known || !to)
		return 0;
	to->valid = 0;
	for (i = 0; i < TC_CALL_ARGS; i++) {
		__u64 value = 0;

		if (known->args[i].place && load(ctx, known, 0, operand(TC_FROM_ARG, i), &value))
			to->valid |= 1 << i;
		to->value[i] = value;
	}
	return 0;
}

#endif
