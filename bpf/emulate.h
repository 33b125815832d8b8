/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Carries out an instruction of x86-64 on the registers of a thread. The same code is compiled for BPF, and natively
 * for the test that compares it with the processor. It reads no memory: the caller does, at memory_address().
 */
#ifndef TRACECTL_EMULATE_H
#define TRACECTL_EMULATE_H

#include <stdbool.h>

#include "bpf/abi.h"

/* The sign bit of a value of `size` bytes, and all of its bits. */
static inline __u64 sign_of(__u8 size) { return 1ULL << ((8 * size - 1) & 63); }

static inline __u64 mask_of(__u8 size) { return (sign_of(size) - 1) | sign_of(size); }

static inline __u64 register_value(const struct tc_thread_state *thread, __u8 number)
{
	return thread->general[number & 15];
}

static inline __u64 next_ip(const struct tc_instruction *what, const struct tc_thread_state *thread)
{
	return thread->ip + what->length;
}

static inline __u64 memory_address(const struct tc_instruction *what, const struct tc_thread_state *thread)
{
	__u64 address = what->displacement;

	if (what->base == TC_INSTRUCTION_POINTER)
		address += next_ip(what, thread);
	else if (what->base != TC_NO_REGISTER)
		address += register_value(thread, what->base);
	if (what->index != TC_NO_REGISTER)
		address += register_value(thread, what->index) << (what->shift & 3);
	return address;
}

static inline bool reads_memory(const struct tc_instruction *what)
{
	return what->left == TC_OPERAND_MEMORY || what->right == TC_OPERAND_MEMORY;
}

static inline __u64 left_value(const struct tc_instruction *what, const struct tc_thread_state *thread, __u64 memory)
{
	__u64 value = what->left == TC_OPERAND_MEMORY ? memory : register_value(thread, what->left_register);

	return value & mask_of(what->size);
}

static inline __u64 right_value(const struct tc_instruction *what, const struct tc_thread_state *thread, __u64 memory)
{
	__u64 value = what->immediate;

	if (what->right == TC_OPERAND_REGISTER)
		value = register_value(thread, what->right_register);
	else if (what->right == TC_OPERAND_MEMORY)
		value = memory;
	else if (what->right == TC_OPERAND_ADDRESS)
		value = memory_address(what, thread);
	value &= mask_of(what->right_size);
	if (what->is_signed && value & sign_of(what->right_size))
		value |= ~mask_of(what->right_size);
	return value & mask_of(what->size);
}

/* A write of 4 bytes clears the upper half of the register, one of 1 or 2 bytes keeps the rest. */
static inline void set_register(struct tc_thread_state *thread, __u8 number, __u8 size, __u64 value)
{
	__u64 kept = size < 4 ? register_value(thread, number) & ~mask_of(size) : 0;

	thread->general[number & 15] = kept | (value & mask_of(size));
}

/* Of the low byte. */
static inline __u64 parity_flag(__u64 result)
{
	__u64 bits = result & 0xff;

	bits ^= bits >> 4;
	bits ^= bits >> 2;
	bits ^= bits >> 1;
	return bits & 1 ? 0 : TC_PARITY;
}

static inline __u64 flags_of_result(__u64 result, __u8 size)
{
	return parity_flag(result) | (result ? 0 : TC_ZERO) | (result & sign_of(size) ? TC_SIGN : 0);
}

static inline __u64 flags_of_sum(__u64 left, __u64 right, __u64 sum, __u8 size)
{
	return flags_of_result(sum, size) | (sum < left ? TC_CARRY : 0) | ((left ^ right ^ sum) & TC_ADJUST) |
	       ((left ^ sum) & (right ^ sum) & sign_of(size) ? TC_OVERFLOW : 0);
}

static inline __u64 flags_of_difference(__u64 left, __u64 right, __u64 difference, __u8 size)
{
	return flags_of_result(difference, size) | (left < right ? TC_CARRY : 0) |
	       ((left ^ right ^ difference) & TC_ADJUST) |
	       ((left ^ right) & (left ^ difference) & sign_of(size) ? TC_OVERFLOW : 0);
}

static inline void set_flags(struct tc_thread_state *thread, __u64 changed, __u64 flags)
{
	thread->flags = (thread->flags & ~changed) | (flags & changed);
}

/* What is computed from two values, with its flags. */
static inline void calculate(const struct tc_instruction *what, struct tc_thread_state *thread, __u64 memory)
{
	__u64 left = left_value(what, thread, memory), right = right_value(what, thread, memory);
	__u64 result, flags, changed = TC_ARITHMETIC_FLAGS;

	switch (what->operation) {
	case TC_DO_INCREMENT:
		changed &= ~TC_CARRY;
		/* fallthrough */
	case TC_DO_ADD:
		result = (left + right) & mask_of(what->size);
		flags = flags_of_sum(left, right, result, what->size);
		break;
	case TC_DO_DECREMENT:
		changed &= ~TC_CARRY;
		/* fallthrough */
	case TC_DO_SUBTRACT:
	case TC_DO_COMPARE:
		result = (left - right) & mask_of(what->size);
		flags = flags_of_difference(left, right, result, what->size);
		break;
	case TC_DO_OR:
		result = left | right;
		flags = flags_of_result(result, what->size);
		break;
	case TC_DO_XOR:
		result = left ^ right;
		flags = flags_of_result(result, what->size);
		break;
	default:
		result = left & right;
		flags = flags_of_result(result, what->size);
	}
	if (what->operation != TC_DO_COMPARE && what->operation != TC_DO_TEST)
		set_register(thread, what->left_register, what->size, result);
	set_flags(thread, changed, flags);
}

/*
 * Carries it out, with what memory holds at memory_address() where reads_memory(), and sets the instruction pointer to
 * the next one. Writes nothing but general registers, the instruction pointer and the arithmetic flags.
 */
static inline void emulate(const struct tc_instruction *what, struct tc_thread_state *thread, __u64 memory)
{
	__u64 next = next_ip(what, thread);

	switch (what->operation) {
	case TC_DO_NOTHING:
		break;
	case TC_DO_MOVE:
		set_register(thread, what->left_register, what->size, right_value(what, thread, memory));
		break;
	case TC_DO_JUMP:
		next = right_value(what, thread, memory);
		break;
	case TC_DO_RETURN:
		thread->general[TC_STACK_POINTER] += 8;
		next = memory;
		break;
	default:
		calculate(what, thread, memory);
	}
	thread->ip = next;
}

#endif
