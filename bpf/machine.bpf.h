/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The machine that runs the code of conditions and values (struct tc_insn). One step function runs all
 * instructions; a plain loop runs the first ones, an iterator the rest. Only user space writes code, and
 * only complete code, but nothing here trusts it: every index is bounded, and code without an end fails.
 */
#ifndef TRACECTL_MACHINE_BPF_H
#define TRACECTL_MACHINE_BPF_H

#include "bpf/abi.h"
#include "bpf/calls.bpf.h"
#include "bpf/desk.bpf.h"
#include "bpf/helpers.bpf.h"
#include "bpf/loop.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/operands.bpf.h"
#include "bpf/own_tags.bpf.h"
#include "bpf/text.bpf.h"

enum machine_state { RUNNING, DONE, FAILED };

struct machine {
	bpf_user_pt_regs_t *ctx;
	const struct tc_spec *spec;
	const struct tc_layout *layout;
	const struct ended *ended;	/* if the hit is the end of a call; else null */
	struct desk *desk;		/* has its registers */
	__u64 result;	/* if DONE; if FAILED the address that could not be read, or 0 */
	__u32 next;	/* instruction */
};

/* INT64_MIN / -1 overflows, and would be a fault on the processor. */
static __always_inline __u64 divide_signed(__s64 a, __s64 b, bool rest)
{
	__u64 of = a < 0 ? -(__u64)a : a, by = b < 0 ? -(__u64)b : b;
	__u64 result = rest ? of % by : of / by;
	bool negative = rest ? a < 0 : (a < 0) != (b < 0);

	return negative ? -result : result;
}

__on_its_own bool calculate(__u8 op, __u64 a, __u64 b, __u64 *result)
{
	if (!result)
		return false;
	switch (op) {
	case TC_OP_MOVE: *result = a; return true;
	case TC_OP_ADD: *result = a + b; return true;
	case TC_OP_SUB: *result = a - b; return true;
	case TC_OP_MUL: *result = a * b; return true;
	case TC_OP_AND: *result = a & b; return true;
	case TC_OP_OR: *result = a | b; return true;
	case TC_OP_XOR: *result = a ^ b; return true;
	case TC_OP_SHL: *result = a << (b & 63); return true;
	case TC_OP_SHR_S: *result = (__s64)a >> (b & 63); return true;
	case TC_OP_SHR_U: *result = a >> (b & 63); return true;
	}
	if (!b)
		return false;
	switch (op) {
	case TC_OP_DIV_U: *result = a / b; return true;
	case TC_OP_MOD_U: *result = a % b; return true;
	case TC_OP_DIV_S: *result = divide_signed(a, b, false); return true;
	case TC_OP_MOD_S: *result = divide_signed(a, b, true); return true;
	}
	return false;
}

__on_its_own bool read_number(__u8 op, __u64 address, __u64 *value)
{
	const void *from = (const void *)address;
	__u64 loaded = 0;
	__u32 size = 8;
	long error;

	if (!value)
		return false;
	switch (op) {
	case TC_OP_READ_U8: case TC_OP_READ_S8: size = 1; break;
	case TC_OP_READ_U16: case TC_OP_READ_S16: size = 2; break;
	case TC_OP_READ_U32: case TC_OP_READ_S32: size = 4; break;
	}
	switch (size) {
	case 1: error = bpf_probe_read_user(&loaded, 1, from); break;
	case 2: error = bpf_probe_read_user(&loaded, 2, from); break;
	case 4: error = bpf_probe_read_user(&loaded, 4, from); break;
	default: error = bpf_probe_read_user(&loaded, 8, from); break;
	}
	*value = extended(loaded, size, op == TC_OP_READ_S8 || op == TC_OP_READ_S16 ||
					op == TC_OP_READ_S32);
	return !error;
}

static __always_inline bool differs_in_sign(__u64 a, __u64 b)
{
	return (__s64)a < 0 || (__s64)b < 0;
}

static __always_inline enum tc_relation relation(__u8 op, __u64 a, __u64 b)
{
	const __u64 sign = 1ULL << 63;

	if (op == TC_OP_SKIP_UNLESS_S) {
		a ^= sign;
		b ^= sign;
	} else if (op == TC_OP_SKIP_UNLESS_SU && differs_in_sign(a, b)) {
		return TC_LESS;	/* a is below 0, or b above INT64_MAX */
	}
	return a < b ? TC_LESS : a == b ? TC_EQUAL : TC_GREATER;
}

/* `relations`: any of enum tc_relation. */
__on_its_own bool is_related(__u8 op, __u64 a, __u64 b, __u8 relations)
{
	return relation(op, a, b) & relations;
}

enum answer_of_text { TEXT_DIFFERS, TEXT_HOLDS, TEXT_UNREAD };

/* `address`: that of the string, if it is in the program's memory. */
__on_its_own int compare_text(const struct tc_spec *spec, const struct tc_insn *insn, __u64 address)
{
	struct desk *desk = desk_of_thread();
	__u64 number;

	if (!spec || !insn || !desk)
		return TEXT_UNREAD;
	if (insn->b == TC_TEXT_COMM)
		string_of_comm(&desk->string);
	else if (insn->b == TC_TEXT_TAG)
		string_of_tag(&desk->string, spec->session);
	else if (!read_string(&desk->string, address, insn->to))
		return TEXT_UNREAD;
	number = insn->immediate;
	checked_as_used(number);
	if (number >= TC_SPEC_TEXTS)
		return TEXT_UNREAD;
	return text_holds(insn->op, &desk->string, &spec->texts[number]) ? TEXT_HOLDS : TEXT_DIFFERS;
}

static __always_inline bool skip_unless(struct machine *m, const struct tc_insn *insn, bool holds)
{
	if (!holds)
		m->next += insn->skip;
	return true;
}

static __always_inline bool skip_unless_text(struct machine *m, const struct tc_insn *insn, __u64 a)
{
	int answer = compare_text(m->spec, insn, a);

	if (answer == TEXT_UNREAD) {
		m->result = a;
		return false;
	}
	return skip_unless(m, insn, answer == TEXT_HOLDS);
}

/* Computes the instruction's result from its loaded operands; false if it fails. */
static __always_inline bool carry_out(struct machine *m, const struct tc_insn *insn, __u64 a, __u64 b)
{
	__u64 *to = &m->desk->registers[insn->to & (TC_REGISTERS - 1)];

	if (insn->op >= TC_OP_SKIP_UNLESS_TEXT_EQ)
		return skip_unless_text(m, insn, a);
	if (insn->op >= TC_OP_SKIP_UNLESS_S)
		return skip_unless(m, insn, is_related(insn->op, a, b, insn->to));
	if (insn->op == TC_OP_SKIP)
		return skip_unless(m, insn, false);
	if (insn->op >= TC_OP_READ_U8) {
		if (read_number(insn->op, a, to))
			return true;
		m->result = a;
		return false;
	}
	return calculate(insn->op, a, b, to);
}

/* Loads operand a of the instruction; false if that fails. */
static __always_inline bool load_first(struct machine *m, const struct tc_insn *insn, __u64 *value)
{
	*value = insn->immediate;
	if (insn->a_from == TC_FROM_IMMEDIATE)
		return true;
	if (insn->a_from == TC_FROM_REGISTER) {
		*value = m->desk->registers[insn->a & (TC_REGISTERS - 1)];
		return true;
	}
	if (load(m->ctx, m->layout, m->ended, operand(insn->a_from, insn->a), value))
		return true;
	m->result = *value;
	return false;
}

static __always_inline enum machine_state step(struct machine *m)
{
	const struct tc_insn *insn;
	__u64 a, b;

	insn = &m->spec->code[m->next++ & (TC_SPEC_INSNS - 1)];
	if (!load_first(m, insn, &a))
		return FAILED;
	if (insn->op == TC_OP_RETURN) {
		m->result = a;
		return DONE;
	}
	b = insn->immediate;
	if (insn->b_from != TC_FROM_IMMEDIATE)
		b = m->desk->registers[insn->b & (TC_REGISTERS - 1)];
	return carry_out(m, insn, a, b) ? RUNNING : FAILED;
}

enum { FIRST_STEPS = 4 };	/* enough for most code; the verifier checks each of them */

/* For long code only: an iterator's step is a call, which costs as much as several steps of the machine. */
static __always_inline enum machine_state run_on(struct machine *m)
{
	enum machine_state state = RUNNING;
	struct bpf_iter_num steps;

	bpf_iter_num_new(&steps, FIRST_STEPS, TC_MAX_INSNS);
	while (bpf_iter_num_next(&steps)) {
		state = step(m);
		if (state != RUNNING)
			break;
	}
	bpf_iter_num_destroy(&steps);
	return state;
}

static __always_inline bool run_code(struct machine *m, __u32 start)
{
	enum machine_state state = RUNNING;
	__u32 i;

	m->next = start;
	for (i = 0; i < FIRST_STEPS && state == RUNNING; i++)
		state = step(m);
	if (state == RUNNING)
		state = run_on(m);
	return state == DONE;
}

/* The spec and the layout of the arguments in one word, because a function has at most five parameters. */
static __always_inline __u64 code_of(const struct tc_hook *hook)
{
	return (__u64)hook->layout << 32 | hook->spec;
}

static __always_inline __u64 packed(const struct tc_value *value)
{
	return *(const __u64 *)value;
}

/*
 * Whether the packed value can be evaluated; the result for a string is its address. If memory could not be
 * read, the result is the memory's address, or 0. `ended`: set if the hit is the end of a call.
 */
__on_its_own bool evaluate(bpf_user_pt_regs_t *ctx, __u64 code, __u64 value, __u64 *result,
			   const struct ended *ended)
{
	struct machine machine = { .ctx = ctx, .ended = ended };
	__u32 spec = code, layout = code >> 32;
	struct tc_value what;
	bool is_done;

	__builtin_memcpy(&what, &value, sizeof(what));
	machine.spec = bpf_map_lookup_elem(&specs, &spec);
	machine.layout = bpf_map_lookup_elem(&layouts, &layout);
	if (!machine.spec || !machine.layout || !result)
		return false;
	*result = 0;
	if (what.kind == TC_VALUE_OPERAND)
		return load(ctx, machine.layout, ended, operand(what.from, what.a), result);
	machine.desk = desk_of_thread();
	if (!machine.desk)
		return false;
	is_done = run_code(&machine, what.code);
	*result = machine.result;
	return is_done;
}

#endif
