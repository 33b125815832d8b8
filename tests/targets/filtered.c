// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// filtered CALLS
//
// Calls its functions under a seccomp filter that allows read, write, exit and exit_group, and kills at any other
// system call, as a sandbox does whose author never heard of the calls that the kernel itself makes for probes.
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "nop5_first.h"
#include "stdin_protocol.h"

#define FUNCTION __attribute__((noinline, noclone)) uint64_t

FUNCTION filtered_nop5(uint64_t n) {
  NOP5_FIRST;
  return n * 13;
}

FUNCTION filtered_leaf(uint64_t n) {
  volatile uint64_t words[2] = {n, n + 7};
  return words[0] + words[1];
}

static int filter_system_calls(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {.len = sizeof code / sizeof *code, .filter = code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

int main(int argc, char** argv) {
  const uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
  uint64_t sum = 0;
  ready_and_wait_for_go();
  if (filter_system_calls() != 0) return 1;
  for (uint64_t n = 0; n < calls; ++n) sum += filtered_nop5(n) + filtered_leaf(n);
  printf("done\n{\"calls\":%" PRIu64 ",\"sum\":%" PRIu64 "}\n", calls, sum);
  wait_for_exit();
  return 0;
}
