/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The kernel's and libbpf's headers for BPF programs. libbpf's need the types of the kernel's before them. */
#ifndef TRACECTL_HELPERS_BPF_H
#define TRACECTL_HELPERS_BPF_H

#include <linux/bpf.h>
#include "bpf/context_name.bpf.h"
#include <linux/ptrace.h>
#include <asm/bpf_perf_event.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#undef pt_regs
#undef user_pt_regs

#endif
