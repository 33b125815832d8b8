// build: -O2 -g -fcf-protection=none -fno-omit-frame-pointer
// SPDX-License-Identifier: BSD-2-Clause
//
// Children that are plain forks, that execute this program as `soak_forks child N`, and that share the
// parent's memory until then. A fork copies the parent's armed sites; those at 5-byte nops are in
// soak_forked_nop5.c.
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "push_first.h"
#include "soak.h"

extern char** environ;

SOAK_FUNCTION uint64_t forks_push(uint64_t n) {
  PUSH_FIRST;
  return n * 5;
}

SOAK_FUNCTION uint64_t forks_slow(uint64_t n) { return (n ^ 3) + n; }

SOAK_FUNCTION uint64_t forks_work(uint64_t n) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    sum = mixed(sum, forks_push(n + i));
    sum = mixed(sum, forks_slow(n + i));
  }
  return sum;
}

// The child's exit status, or a greater number if it was killed.
static uint64_t status_of(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return UINT64_MAX;
  if (WIFSIGNALED(status)) {
    fprintf(stderr, "a child died by signal %d\n", WTERMSIG(status));
    return (uint64_t)status << 8;
  }
  return (uint64_t)WEXITSTATUS(status);
}

SOAK_FUNCTION uint64_t forks_fork(uint64_t n) {
  const pid_t child = fork();
  if (child == 0) _exit((int)(forks_work(n) & 0xff));
  return mixed(forks_work(n), status_of(child));
}

SOAK_FUNCTION uint64_t forks_spawn(uint64_t n) {
  char program[] = "/proc/self/exe", word[] = "child", number[24];
  snprintf(number, sizeof number, "%" PRIu64, n);
  char* arguments[] = {program, word, number, NULL};
  pid_t child = -1;
  if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0) return UINT64_MAX;
  return status_of(child);
}

static uint64_t forks_round(void) {
  uint64_t sum = 0;
  for (uint64_t n = 0; n < 4; ++n) sum = mixed(sum, forks_fork(n));
  return mixed(sum, forks_spawn(9));
}

int main(int argc, char** argv) {
  if (argc == 3) return (int)(forks_work(strtoull(argv[2], NULL, 10)) & 0xff);
  return soak_without_semaphores(forks_round);
}
