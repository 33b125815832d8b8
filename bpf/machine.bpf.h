/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The machine that runs the code of conditions and values (struct tc_insn). One step function runs all
 * instructions. A plain loop runs the first ones; bpf_loop() runs the rest, and takes over earlier at an instruction
 * that takes much code (AT_LARGE). Only
 * user space writes code, and only complete code, but nothing here trusts it: every index is bounded, and
 * code without an end fails.
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

enum machine_state { RUNNING, DONE, FAILED, AT_LARGE };

struct machine {
	bpf_user_pt_regs_t *ctx;
	const struct tc_spec *spec;
	const struct tc_layout *layout;
	const struct ended *ended;	/* if the hit is the end of a call; else null */
	union {
		struct desk *desk;	/* has its registers */
		__u32 key;		/* until then; there is no more room on the stack */
	};
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
static __always_inline int compare_text(const struct tc_spec *spec, struct desk *desk,
					const struct tc_insn *insn, __u64 address)
{
	__u64 number;

	if (insn->b == TC_TEXT_COMM)
		string_of_comm(&desk->compared.string);
	else if (insn->b == TC_TEXT_TAG)
		string_of_tag(&desk->compared.string, spec->session);
	else if (!read_string(&desk->compared.string, address, insn->to))
		return TEXT_UNREAD;
	number = insn->immediate;
	checked_as_used(number);
	if (number >= TC_SPEC_TEXTS)
		return TEXT_UNREAD;
	return text_holds(insn->op, &desk->compared, &spec->texts[number]) ? TEXT_HOLDS : TEXT_DIFFERS;
}

static __always_inline bool skip_unless(struct machine *m, const struct tc_insn *insn, bool holds)
{
	if (!holds)
		m->desk->next += insn->skip;
	return true;
}

static __always_inline bool skip_unless_text(struct machine *m, const struct tc_insn *insn, __u64 a)
{
	int answer = compare_text(m->spec, m->desk, insn, a);

	if (answer == TEXT_UNREAD) {
		m->desk->result = address_of_string(a, insn->to);
		return false;
	}
	return skip_unless(m, insn, answer == TEXT_HOLDS);
}

/* Computes the instruction's result from its loaded operands; false if it fails. */
static __always_inline bool carry_out(struct machine *m, const struct tc_insn *insn, __u64 a, __u64 b)
{
	__u64 *to = &m->desk->registers[insn->to & (TC_REGISTERS - 1)];

	if (insn->op >= TC_OP_SKIP_UNLESS_S)
		return skip_unless(m, insn, is_related(insn->op, a, b, insn->to));
	if (insn->op == TC_OP_SKIP)
		return skip_unless(m, insn, false);
	if (insn->op >= TC_OP_READ_U8) {
		if (read_number(insn->op, a, to))
			return true;
		m->desk->result = a;
		return false;
	}
	return calculate(insn->op, a, b, to);
}

/* Loads operand a of the instruction; false if that fails. */
static __always_inline bool load_first(struct machine *m, const struct tc_insn *insn, const bool all)
{
	__u64 *value = &m->desk->operand;

	*value = insn->immediate;
	if (insn->a_from == TC_FROM_IMMEDIATE)
		return true;
	if (insn->a_from == TC_FROM_REGISTER) {
		*value = m->desk->registers[insn->a & (TC_REGISTERS - 1)];
		return true;
	}
	if (all && insn->a_from == TC_FROM_STACK_BYTES) {
		*value = 0;
		if (!m->ended && stack_bytes_here(m->ctx, value, &m->desk->walk))
			return true;
	} else if (load_operand(m->ctx, m->layout, m->ended, operand(insn->a_from, insn->a), value)) {
		return true;
	}
	m->desk->result = *value;
	return false;
}

static __always_inline bool is_of_text(const struct tc_insn *insn)
{
	return insn->op >= TC_OP_SKIP_UNLESS_TEXT_EQ;
}

/* `all`: also those that take much code or a frame; else the state becomes AT_LARGE there. */
static __always_inline enum machine_state step(struct machine *m, const bool all)
{
	const struct tc_insn *insn = &m->spec->code[m->desk->next & (TC_SPEC_INSNS - 1)];
	__u64 a, b;

	/* What the machine refers to is loaded again, instead of copies that take as much of the stack. */
	asm volatile("" : : "r"(m) : "memory");
	if (!all && (is_of_text(insn) || insn->a_from == TC_FROM_STACK_BYTES))
		return AT_LARGE;
	m->desk->next++;
	if (!load_first(m, insn, all))
		return FAILED;
	a = m->desk->operand;
	if (insn->op == TC_OP_RETURN) {
		m->desk->result = a;
		return DONE;
	}
	if (all && is_of_text(insn))
		return skip_unless_text(m, insn, a) ? RUNNING : FAILED;
	b = insn->immediate;
	if (insn->b_from != TC_FROM_IMMEDIATE)
		b = m->desk->registers[insn->b & (TC_REGISTERS - 1)];
	return carry_out(m, insn, a, b) ? RUNNING : FAILED;
}

enum { FIRST_STEPS = 4 };	/* before bpf_loop(): enough for most code; the verifier checks each of them */

static long run_round(__u32 round, struct machine *m)
{
	enum machine_state state = step(m, true);

	m->desk->state = state;
	return state == RUNNING ? NEXT_ROUND : LAST_ROUND;
}

static __always_inline bool run_code(struct machine *m, __u32 start)
{
	enum machine_state state = RUNNING;
	__u32 i;

	m->desk->next = start;
	m->desk->result = 0;
	for (i = 0; i < FIRST_STEPS && state == RUNNING; i++)
		state = step(m, false);
	if (state != RUNNING && state != AT_LARGE)
		return state == DONE;
	bpf_loop(TC_MAX_INSNS, run_round, m, 0);
	return m->desk->state == DONE;
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
	struct tc_value what;
	bool is_done;

	__builtin_memcpy(&what, &value, sizeof(what));
	machine.key = code;
	machine.spec = bpf_map_lookup_elem(&specs, &machine.key);
	machine.key = code >> 32;
	machine.layout = bpf_map_lookup_elem(&layouts, &machine.key);
	if (!machine.spec || !machine.layout || !result)
		return false;
	*result = 0;
	if (what.kind == TC_VALUE_OPERAND)
		return load(ctx, machine.layout, ended, operand(what.from, what.a), result);
	machine.desk = desk_of_thread();
	if (!machine.desk)
		return false;
	is_done = run_code(&machine, what.code);
	*result = machine.desk->result;
	return is_done;
}

#endif
