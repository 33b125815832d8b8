// build: -O2 -g -fcf-protection=none -fno-omit-frame-pointer
// SPDX-License-Identifier: BSD-2-Clause
//
// forker exec CHILDREN CALLS [PROGRAM]   each child executes PROGRAM (this one) as `PROGRAM child CALLS`
// forker fork CHILDREN CALLS             each child is a fork only
// forker child CALLS                     calls work(0) ... work(CALLS - 1), and ends
//
// Processes that come and go: for targets chosen by executable, and for children of a target. The
// children run two at a time. Expect: CHILDREN * CALLS hits of work in the children, none in the
// parent; each child's arg0 runs from 0 to CALLS - 1.
#include <stdint.h>
#include <sys/wait.h>

#include "push_first.h"
#include "stdin_protocol.h"

static volatile uint64_t worked;

// Expect: `push %rbp` first: normal.
__attribute__((noipa)) void work(uint64_t n) {
  PUSH_FIRST;
  worked += n;
}

static void work_times(uint64_t calls) {
  for (uint64_t n = 0; n < calls; ++n) work(n);
}

static bool reap(void) {
  int status = 0;
  return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static pid_t start_child(bool executes, const char* program, char* calls) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  if (executes) {
    char child[] = "child";
    char* arguments[] = {(char*)program, child, calls, NULL};
    execv(program, arguments);
    _exit(127);
  }
  work_times(strtoull(calls, NULL, 10));
  _exit(0);
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "child") == 0) {
    work_times(strtoull(argv[2], NULL, 10));
    return 0;
  }
  const bool executes = argc > 3 && strcmp(argv[1], "exec") == 0;
  if (argc < 4 || (!executes && strcmp(argv[1], "fork") != 0)) {
    fprintf(stderr, "usage: forker exec|fork CHILDREN CALLS [PROGRAM] | forker child CALLS\n");
    return 2;
  }
  const int children = atoi(argv[2]);
  const char* program = argc > 4 ? argv[4] : "/proc/self/exe";
  char self[4096];
  if (argc <= 4) {
    const ssize_t length = readlink(program, self, sizeof self - 1);
    if (length < 0) return 1;
    self[length] = 0;
    program = self;
  }

  ready_and_wait_for_go();
  int failed = 0, running = 0;
  for (int i = 0; i < children; ++i) {
    if (running == 2) {
      failed += !reap();
      --running;
    }
    if (start_child(executes, program, argv[3]) < 0)
      ++failed;
    else
      ++running;
  }
  for (; running > 0; --running) failed += !reap();
  printf("done\n{\"children\":%d,\"calls_per_child\":%s,\"failed\":%d}\n", children, argv[3],
         failed);
  wait_for_exit();
  return failed != 0;
}
