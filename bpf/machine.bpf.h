/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The machine that runs the code of conditions and values (struct tc_insn). A step is the same for
 * all instructions; a plain loop takes the first ones, an iterator the rest. Only user space writes
 * code, and whole, yet nothing here trusts it: every index is bounded, and code that runs out has
 * failed.
 */
#ifndef TRACECTL_MACHINE_BPF_H
#define TRACECTL_MACHINE_BPF_H

enum machine_state { RUNNING, DONE, FAILED };

struct machine {
	bpf_user_pt_regs_t *ctx;
	const struct tc_spec *spec;
	const struct tc_layout *layout;
	const struct ended *ended;	/* of a call that ends now; null while it begins */
	__u64 registers[TC_REGISTERS];
	__u64 result;	/* once it is DONE */
	__u64 missing;	/* once it has FAILED: the address that could not be read, or 0 */
	__u32 next;	/* instruction */
};

/* Compilers would make one load at a computed offset of all these, and the verifier wants constants. */
#define CASE_REGISTER(number, name)                                                         \
	case number:                                                                        \
		asm volatile("%0 = *(u64 *)(%1 + %2)"                                       \
			     : "=r"(value)                                                  \
			     : "r"(ctx), "i"(__builtin_offsetof(struct pt_regs, name)));    \
		break

static __always_inline __u64 read_register(bpf_user_pt_regs_t *ctx, __u8 number)
{
	__u64 value = 0;

	switch (number) {
	CASE_REGISTER(0, rax);
	CASE_REGISTER(1, rcx);
	CASE_REGISTER(2, rdx);
	CASE_REGISTER(3, rbx);
	CASE_REGISTER(4, rsp);
	CASE_REGISTER(5, rbp);
	CASE_REGISTER(6, rsi);
	CASE_REGISTER(7, rdi);
	CASE_REGISTER(8, r8);
	CASE_REGISTER(9, r9);
	CASE_REGISTER(10, r10);
	CASE_REGISTER(11, r11);
	CASE_REGISTER(12, r12);
	CASE_REGISTER(13, r13);
	CASE_REGISTER(14, r14);
	CASE_REGISTER(15, r15);
	CASE_REGISTER(TC_RIP, rip);
	}
	return value;
}

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
	*value = ended->args[number];
	return ended->arg_valid >> number & 1;
}

/* An argument in memory, unextended; its address where it cannot be read. */
__on_its_own bool load_from_memory(bpf_user_pt_regs_t *ctx, const struct tc_arg *arg, __u64 *value)
{
	__u64 address, loaded = 0;
	bool well;

	if (!arg || !value || arg->place != TC_ARG_MEMORY)
		return false;
	address = read_register(ctx, arg->base) + arg->offset;
	if (arg->index != TC_NO_REGISTER)
		address += read_register(ctx, arg->index) << (arg->scale_shift & 3);
	well = read_memory(arg, address, &loaded);
	*value = well ? loaded : address;
	return well;
}

static __noinline bool load_arg(struct machine *m, __u32 number, bool is_signed, __u64 *value)
{
	const struct tc_arg *arg;
	__u64 loaded = 0;

	checked_as_used(number);
	if (number >= TC_MAX_ARGS)
		return false;
	arg = &m->layout->args[number];
	if (m->ended) {
		if (!kept_arg(m->ended, number, &loaded))
			return false;
	} else if (arg->place == TC_ARG_REGISTER) {
		loaded = read_register(m->ctx, arg->base) >> (arg->value_shift & 63);
	} else if (arg->place == TC_ARG_CONSTANT) {
		loaded = arg->offset;
	} else if (!load_from_memory(m->ctx, arg, &loaded)) {
		m->missing = loaded;
		return false;
	}
	*value = extended(loaded, arg->size, is_signed);
	return true;
}

static __always_inline struct thread ids_of_current(void)
{
	struct thread thread;

	learn_ids(&thread, bpf_get_current_task_btf());
	return thread;
}

static __always_inline bool load_retval(const struct ended *ended, __u8 type, __u64 *value)
{
	*value = extended(ended->retval, type & ~TC_RETVAL_SIGNED, type & TC_RETVAL_SIGNED);
	return ended->has_retval;
}

static __always_inline bool load(struct machine *m, __u8 from, __u8 number, __u64 *value)
{
	switch (from) {
	case TC_FROM_REGISTER:
		*value = m->registers[number & (TC_REGISTERS - 1)];
		return true;
	case TC_FROM_ARG:
	case TC_FROM_ARG_SIGNED:
		return load_arg(m, number, from == TC_FROM_ARG_SIGNED, value);
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
	case TC_FROM_STACK_BYTES:
		return !m->ended && stack_bytes(m->ctx, value);
	case TC_FROM_RETVAL:
		return m->ended && load_retval(m->ended, number, value);
	case TC_FROM_DURATION:
		if (!m->ended)
			return false;
		*value = m->ended->duration_ns;
		return true;
	case TC_FROM_THROWN:
		if (!m->ended)
			return false;
		*value = m->ended->kind == TC_RECORD_UNWOUND;
		return true;
	}
	return false;
}

/* INT64_MIN / -1 does not fit, and the machine's processor would stop at it. */
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
		return TC_LESS;	/* a is below 0, or b beyond what is signed */
	}
	return a < b ? TC_LESS : a == b ? TC_EQUAL : TC_GREATER;
}

/* FAILED where the string could not be read. */
static __always_inline bool compare_text(struct machine *m, const struct tc_insn *insn, __u64 a)
{
	const struct tc_text *text;
	__u64 number = insn->immediate;
	struct string string;

	if (number >= TC_SPEC_TEXTS)
		return false;
	text = &m->spec->texts[number];
	if (insn->b == TC_TEXT_COMM)
		string_of_comm(&string);
	else if (insn->b == TC_TEXT_TAG)
		string_of_tag(&string, m->spec->session);
	else if (!read_string(&string, a, insn->to)) {
		m->missing = a;
		return false;
	}
	if (text_holds(insn->op, &string, text))
		return true;
	m->next += insn->skip;
	return true;
}

/* What the operands of the instruction, loaded, come to; false where it fails. */
static __always_inline bool carry_out(struct machine *m, const struct tc_insn *insn, __u64 a, __u64 b)
{
	__u64 *to = &m->registers[insn->to & (TC_REGISTERS - 1)];

	if (insn->op >= TC_OP_SKIP_UNLESS_TEXT_EQ)
		return compare_text(m, insn, a);
	if (insn->op >= TC_OP_SKIP_UNLESS_S) {
		if (!(relation(insn->op, a, b) & insn->to))
			m->next += insn->skip;
		return true;
	}
	if (insn->op == TC_OP_SKIP) {
		m->next += insn->skip;
		return true;
	}
	if (insn->op >= TC_OP_READ_U8) {
		if (read_number(insn->op, a, to))
			return true;
		m->missing = a;
		return false;
	}
	return calculate(insn->op, a, b, to);
}

static __always_inline enum machine_state step(struct machine *m)
{
	const struct tc_insn *insn;
	__u64 a, b;

	insn = &m->spec->code[m->next++ & (TC_SPEC_INSNS - 1)];
	a = insn->immediate;
	b = insn->immediate;
	if (insn->a_from != TC_FROM_IMMEDIATE && !load(m, insn->a_from, insn->a, &a))
		return FAILED;
	if (insn->op == TC_OP_RETURN) {
		m->result = a;
		return DONE;
	}
	if (insn->b_from != TC_FROM_IMMEDIATE)
		b = m->registers[insn->b & (TC_REGISTERS - 1)];
	return carry_out(m, insn, a, b) ? RUNNING : FAILED;
}

enum { FIRST_STEPS = 4 };	/* enough for most code; the verifier walks each of them */

/* An iterator's step is a call, as dear as several of the machine's, and so left to long code. */
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

/* Which spec and which layout of the arguments; one word, as a function has five parameters. */
static __always_inline __u64 code_of(const struct tc_hook *hook)
{
	return (__u64)hook->layout << 32 | hook->spec;
}

static __always_inline __u64 packed(const struct tc_value *value)
{
	return *(const __u64 *)value;
}

/*
 * Whether the value, packed, can be worked out; of a string it is the address. Where memory could not
 * be read the result is its address, or 0. `ended`, if the hit is the end of a call.
 */
__on_its_own bool evaluate(bpf_user_pt_regs_t *ctx, __u64 code, __u64 value, __u64 *result,
			   const struct ended *ended)
{
	struct machine machine = { .ctx = ctx, .ended = ended };
	__u32 spec = code, layout = code >> 32;
	struct tc_value what;

	__builtin_memcpy(&what, &value, sizeof(what));
	machine.spec = bpf_map_lookup_elem(&specs, &spec);
	machine.layout = bpf_map_lookup_elem(&layouts, &layout);
	if (!machine.spec || !machine.layout || !result)
		return false;
	if (what.kind == TC_VALUE_OPERAND && load(&machine, what.from, what.a, result))
		return true;
	if (what.kind != TC_VALUE_OPERAND && run_code(&machine, what.code)) {
		*result = machine.result;
		return true;
	}
	*result = machine.missing;
	return false;
}

#endif
