/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Until Linux 6.3 functions that the verifier checks by themselves get the context of a uprobe only as a structure
 * named bpf_user_pt_regs_t (kernel/bpf/btf.c, btf_get_prog_ctx_type); newer kernels accept it, too. So the kernel's
 * headers, read between this one and the end of helpers.bpf.h, give their structure that name.
 */
#ifndef TRACECTL_CONTEXT_NAME_BPF_H
#define TRACECTL_CONTEXT_NAME_BPF_H

#ifdef __TARGET_ARCH_arm64
#define user_pt_regs bpf_user_pt_regs_t
#else
#define pt_regs bpf_user_pt_regs_t
#endif

#endif
