/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * An instruction of x86-64 in the form in which emulate() carries it out. Source of what instructions do: Intel SDM,
 * volume 2. Part of bpf/abi.h.
 */
#ifndef TRACECTL_ABI_EMULATION_H
#define TRACECTL_ABI_EMULATION_H

#include <linux/types.h>

enum tc_operation {
	TC_DO_NOTHING,	/* nops and endbr64 */
	TC_DO_MOVE,	/* mov, movzx, movsx, movsxd and lea */
	TC_DO_ADD,
	TC_DO_SUBTRACT,
	TC_DO_COMPARE,
	TC_DO_AND,
	TC_DO_TEST,
	TC_DO_OR,
	TC_DO_XOR,
	TC_DO_INCREMENT,
	TC_DO_DECREMENT,
	TC_DO_JUMP,	/* to the address in a register */
	TC_DO_RETURN,
};

enum tc_operand_kind {
	TC_OPERAND_NONE,
	TC_OPERAND_REGISTER,
	TC_OPERAND_IMMEDIATE,
	TC_OPERAND_MEMORY,	/* what is at the address */
	TC_OPERAND_ADDRESS,	/* of lea */
};

enum { TC_MAX_EMULATED = 1 << 16 };	/* places that are armed at once */

/* Numbers of registers are those of abi_machine.h. At most one operand is in memory. */
struct tc_instruction {
	__u64 code[2];		/* its bytes */
	__u64 mask[2];		/* of those bits in which the kernel's copy is the same (bpf/emulator.bpf.c) */
	__u64 immediate;	/* extended as the processor does */
	__s32 displacement;	/* of the address */
	__u8 length;		/* bytes */
	__u8 operation;		/* tc_operation */
	__u8 left;		/* tc_operand_kind: of the operand that is written or compared */
	__u8 left_register;
	__u8 right;		/* tc_operand_kind */
	__u8 right_register;
	__u8 size;		/* of the operation: 1, 2, 4 or 8 bytes */
	__u8 right_size;	/* of the right operand, which is extended to `size` */
	__u8 is_signed;		/* whether its sign is extended */
	__u8 base;		/* of the address: a register, TC_INSTRUCTION_POINTER (that of the next one) or TC_NO_REGISTER */
	__u8 index;		/* a register or TC_NO_REGISTER */
	__u8 shift;		/* of the index */
	__u16 page_offset;	/* the low 12 bits of where it stands, which are the same in each process */
	__u8 is_active;		/* whether the program carries it out here */
	__u8 padding[5];
};

/* What an instruction may read and write of a thread, besides memory. */
struct tc_thread_state {
	__u64 general[16];
	__u64 ip;
	__u64 flags;
};

enum {
	TC_CARRY = 0x001,
	TC_PARITY = 0x004,
	TC_ADJUST = 0x010,
	TC_ZERO = 0x040,
	TC_SIGN = 0x080,
	TC_OVERFLOW = 0x800,
	TC_ARITHMETIC_FLAGS = TC_CARRY | TC_PARITY | TC_ADJUST | TC_ZERO | TC_SIGN | TC_OVERFLOW,
};

#endif
