/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Since Linux 6.13 functions of our programs whose frames take 64 bytes or more have them in memory of
 * their CPU, one for each function (kernel/bpf/verifier.c, bpf_enable_priv_stack). The kernel sees to
 * it that no program of that kind interrupts itself on a CPU, but not for uprobes: they do not take
 * bpf_prog_active, and where the kernel preempts tasks one hit can go on in the frames of another.
 * There a program keeps its CPU while it works. It never sleeps, and works for microseconds.
 */
#ifndef TRACECTL_PREEMPT_BPF_H
#define TRACECTL_PREEMPT_BPF_H

extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;

extern _Bool CONFIG_PREEMPT_NONE __kconfig __weak;
extern _Bool CONFIG_PREEMPT_VOLUNTARY __kconfig __weak;

enum { NOT_SAID = 2 };

/* Set before loading: what the kernel's command line says of it. */
const volatile __u8 told_to_preempt = NOT_SAID;

/* Known when the programs are loaded; of the two branches the verifier leaves one. */
static __always_inline bool may_be_preempted(void)
{
	if (told_to_preempt != NOT_SAID)
		return told_to_preempt;
	return !CONFIG_PREEMPT_NONE && !CONFIG_PREEMPT_VOLUNTARY;
}

static __always_inline void keep_cpu(void)
{
	if (may_be_preempted())
		bpf_preempt_disable();
}

static __always_inline void yield_cpu(void)
{
	if (may_be_preempted())
		bpf_preempt_enable();
}

#endif
