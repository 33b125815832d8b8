/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Conditions of terms (TC_TERMS), evaluated inline: if the kernel protects returns against speculation, a
 * function call, which each round of the machine needs, costs more than several terms.
 */
#ifndef TRACECTL_TERMS_BPF_H
#define TRACECTL_TERMS_BPF_H

#include "bpf/abi.h"
#include "bpf/cpu.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/machine.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/match.bpf.h"
#include "bpf/operands.bpf.h"
#include "bpf/thread.bpf.h"

enum answer { NO, YES, ASK_THE_MACHINE };

/* False if the argument is not in a register: sites that share a spec can differ in that. */
static __always_inline bool arg_at_hand(const struct hit *hit, const struct tc_layout *layout,
					const struct tc_insn *insn, __u64 *value)
{
	const struct tc_arg *arg;
	__u32 number = insn->a;

	checked_as_used(number);
	if (number >= TC_MAX_ARGS)
		return false;
	arg = &layout->args[number];
	if (arg->place != TC_ARG_REGISTER)
		return false;
	*value = extended((read_register(hit->ctx, arg->base) >> (arg->value_shift & 63)) + arg->offset, arg->size,
			  insn->a_from == TC_FROM_ARG_SIGNED);
	return true;
}

static __always_inline bool at_hand(struct hit *hit, const struct tc_layout *layout,
				    const struct tc_insn *insn, __u64 *value)
{
	if (insn->a_from <= TC_FROM_ARG_SIGNED)
		return arg_at_hand(hit, layout, insn, value);
	if (insn->a_from == TC_FROM_PID)
		*value = ids_of_current().pid;
	else
		*value = ids_of_current().tid;
	return true;
}

static __always_inline enum answer ask_terms(struct hit *hit, const struct tc_hook *hook,
					     const struct tc_spec *spec)
{
	__u32 layout_index = hook->layout, next = spec->condition.code, i;
	const struct tc_layout *layout = bpf_map_lookup_elem(&layouts, &layout_index);

	if (!layout)
		return NO;
	for (i = 0; i < TC_MAX_TERM_INSNS; i++) {
		const struct tc_insn *insn = &spec->code[next++ & (TC_SPEC_INSNS - 1)];
		__u64 value = 0;

		if (insn->op == TC_OP_RETURN)
			return insn->immediate ? YES : NO;
		if (!at_hand(hit, layout, insn, &value))
			break;
		if (!(relation(insn->op, value, insn->immediate) & insn->to))
			next += insn->skip;
	}
	return ASK_THE_MACHINE;
}

#endif
