/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The kernel's and libbpf's headers for BPF programs. libbpf's need the types of the kernel's before them. */
#ifndef TRACECTL_HELPERS_BPF_H
#define TRACECTL_HELPERS_BPF_H

#include <linux/bpf.h>
/*
 * Until Linux 6.3 functions that the verifier checks by themselves get the context of a uprobe only as a structure
 * of this name (kernel/bpf/btf.c, btf_get_prog_ctx_type); newer kernels accept it, too.
 */
#define pt_regs bpf_user_pt_regs_t
#include <linux/ptrace.h>
#include <asm/bpf_perf_event.h>
#undef pt_regs
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#endif
