// SPDX-License-Identifier: BSD-2-Clause
//
// How a test controls a target program: the program prints `ready PID`, waits for the line `go`, works,
// prints `done` and one line of JSON, and stays until `exit` or the end of its input, so that the test can
// still look at its memory. Unexpected lines are ignored.
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// True when the line was read, false at the end of input.
static inline bool wait_for_line(const char* wanted) {
  char line[256];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    if (strcmp(line, wanted) == 0) return true;
  }
  return false;
}

static inline void ready_and_wait_for_go(void) {
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  if (!wait_for_line("go")) exit(0);
}

// Call it after printing `done` and the JSON line.
static inline void wait_for_exit(void) {
  fflush(stdout);
  wait_for_line("exit");
}
