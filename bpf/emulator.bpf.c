// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * Carries out the instruction at a site, so that the kernel does not single-step it: where a program changes the
 * instruction pointer, kernels that let it do so go on from there (kernel/events/uprobes.c, handle_swbp). Others refuse a
 * program that writes registers. Its link is made before the others of the site, so that it runs last.
 *
 * Whatever is in doubt is left to the kernel: the program then returns and has written nothing.
 */
#include "bpf/abi.h"
#include "bpf/emulate.h"
#include "bpf/helpers.bpf.h"
#include "bpf/kernel_types.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* By the cookie. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TC_MAX_EMULATED);
	__type(key, __u32);
	__type(value, struct tc_instruction);
} places SEC(".maps");

enum {
	USER_CODE = 0x33,		/* the code segment of 64-bit programs: arch/x86/include/asm/segment.h */
	BREAKPOINT = 0xcc,
	SINGLE_STEP = 0x100,		/* the flag by which a debugger steps the thread */
	SHADOW_STACK = 1,		/* ARCH_SHSTK_SHSTK of arch/x86/include/uapi/asm/prctl.h */
	PAGE_OFFSET = 0xfff,
	USER_ADDRESS_BITS = 47,
};

/*
 * Whether the thread is still at the site. Another tracer's program may have moved it on, and then a second emulation
 * would repeat an instruction or skip one. Not told from the site is another breakpoint with the same offset in its page,
 * to which that program led: by a return or a jump, once in 4,096 if a breakpoint stands there.
 */
static __always_inline bool is_at_site(const bpf_user_pt_regs_t *ctx, const struct tc_instruction *what)
{
	__u8 byte = 0;

	return (ctx->rip & PAGE_OFFSET) == what->page_offset &&
	       !bpf_probe_read_user(&byte, sizeof(byte), (const void *)ctx->rip) && byte == BREAKPOINT;
}

/* Whether the kernel would step these very bytes. It read them from the file when the probe was armed. */
static __always_inline bool is_what_kernel_has(const struct tc_instruction *what)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	const struct arch_uprobe *probe = task->utask->auprobe;
	__u64 code[2] = {};

	return probe && !bpf_probe_read_kernel(code, sizeof(code), probe->insn) &&
	       !((code[0] ^ what->code[0]) & what->mask[0]) && !((code[1] ^ what->code[1]) & what->mask[1]);
}

/* A 64-bit program that no debugger steps. */
static __always_inline bool is_plain(const bpf_user_pt_regs_t *ctx)
{
	return ctx->cs == USER_CODE && !(ctx->eflags & SINGLE_STEP);
}

static __always_inline bool has_shadow_stack(void)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	return bpf_core_field_exists(task->thread.features) && task->thread.features & SHADOW_STACK;
}

/*
 * False if the memory is not there; the kernel's single step then waits for it, or the program gets its signal. Also false
 * if the value is not aligned. It is read with the aligned word around it, because the kernel may copy less than 8 bytes
 * one by one (arch/x86/lib/copy_user_64.S, rep_movs_alternative), while another thread writes them.
 */
static __always_inline bool read_operand(const struct tc_instruction *what, const struct tc_thread_state *thread,
					 __u64 *value)
{
	const __u64 address = memory_address(what, thread), inside = address % sizeof(__u64);
	const __u8 size = what->right == TC_OPERAND_MEMORY ? what->right_size : what->size;
	__u64 word;

	if (address & (size - 1) || bpf_probe_read_user(&word, sizeof(word), (const void *)(address - inside)))
		return false;
	*value = word >> 8 * inside;
	return true;
}

#define READ_REGISTER(number, member) thread->general[number] = ctx->member;
#define WRITE_REGISTER(number, member) ctx->member = thread->general[number];

static __always_inline void read_thread(const bpf_user_pt_regs_t *ctx, struct tc_thread_state *thread)
{
	FOR_EACH_GENERAL_REGISTER(READ_REGISTER)
	thread->ip = ctx->rip;
	thread->flags = ctx->eflags;
}

/* The only writes to a thread's registers. */
static __always_inline void write_thread(bpf_user_pt_regs_t *ctx, const struct tc_thread_state *thread)
{
	FOR_EACH_GENERAL_REGISTER(WRITE_REGISTER)
	ctx->rip = thread->ip;
	ctx->eflags = (ctx->eflags & ~(__u64)TC_ARITHMETIC_FLAGS) | (thread->flags & TC_ARITHMETIC_FLAGS);
}

/* How many hits found the thread where the breakpoint is: to try out in which order programs run. */
__u64 seen_at_site;

SEC("?uprobe")
int on_trial(bpf_user_pt_regs_t *ctx)
{
	__u8 byte = 0;

	if (!bpf_probe_read_user(&byte, sizeof(byte), (const void *)ctx->rip) && byte == BREAKPOINT)
		__sync_fetch_and_add(&seen_at_site, 1);
	return 0;
}

SEC("?uprobe")
int on_emulated(bpf_user_pt_regs_t *ctx)
{
	__u32 number = bpf_get_attach_cookie(ctx);
	const struct tc_instruction *found = bpf_map_lookup_elem(&places, &number);
	struct tc_instruction what;	/* which was checked, also if the place is given to another one */
	struct tc_thread_state thread;
	__u64 memory = 0;

	if (!found)
		return 0;
	what = *found;
	if (!what.is_active || !is_plain(ctx) || !is_at_site(ctx, &what) || !is_what_kernel_has(&what))
		return 0;
	read_thread(ctx, &thread);
	if (reads_memory(&what) && !read_operand(&what, &thread, &memory))
		return 0;
	if (what.operation == TC_DO_RETURN && has_shadow_stack())
		return 0;
	emulate(&what, &thread, memory);
	/* The processor gives the program a signal at the instruction that leads to no address. */
	if (!(thread.ip >> USER_ADDRESS_BITS))
		write_thread(ctx, &thread);
	return 0;
}
