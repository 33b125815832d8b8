/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests/bpf/emulate_states.bpf.c shares with emulated_by_bpf.cpp. */
#pragma once

#include "bpf/abi.h"

enum { EMULATED_STATES = 1000 };

struct emulated_state {
  struct tc_thread_state thread;
  __u64 memory; /* what the instruction reads, if it reads memory */
};
