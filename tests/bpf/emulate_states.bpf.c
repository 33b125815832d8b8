// SPDX-License-Identifier: BSD-2-Clause
/* Carries out one instruction on many states, as the emulator's program does on those of threads. */
#include "bpf/abi.h"
#include "bpf/emulate.h"
#include "bpf/helpers.bpf.h"
#include "tests/support/emulated_state.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, EMULATED_STATES);
  __type(key, __u32);
  __type(value, struct emulated_state);
} states SEC(".maps");

struct tc_instruction instruction;

static long emulate_one(__u32 number, void* unused) {
  struct emulated_state* state = bpf_map_lookup_elem(&states, &number);
  struct tc_instruction what = instruction;
  struct tc_thread_state thread;

  if (!state) return 1;
  thread = state->thread;
  emulate(&what, &thread, state->memory);
  state->thread = thread;
  return 0;
}

SEC("syscall")
int emulate_all(void* ctx) {
  bpf_loop(EMULATED_STATES, emulate_one, 0, 0);
  return 0;
}
