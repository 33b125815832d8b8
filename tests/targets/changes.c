// SPDX-License-Identifier: BSD-2-Clause
//
// A process that changes its identity. It answers each line with `done` and {"calls":...}, the total so far:
//
//   call N        calls changes_step N times; arg0 is the number of the call, from 0
//   user UID      becomes that user and group permanently; it must be privileged
//   ids R,E,S,R,E,S   the same, with separate real, effective and saved ids of user and group
//   dumpable N    prctl(PR_SET_DUMPABLE, N)
//   within N      calls changes_within, which does the same
//   texts N       calls changes_text N times, each with a different text
//   ways N        calls changes_end N times, each through a different chain of functions; N up to 65536
//   exec PATH     executes that program, which prints `ready` again
#define _GNU_SOURCE  // setresuid
#include <grp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

static uint64_t calls;

__attribute__((noipa)) uint64_t changes_step(uint64_t number) {
  __asm__ volatile("" ::: "memory");
  return ++calls + number;
}

__attribute__((noipa)) void changes_text(const char* text) {
  __asm__ volatile("" ::"r"(text) : "memory");
}

static void call_with_texts(unsigned count) {
  char text[32];
  for (unsigned i = 0; i < count; ++i) {
    snprintf(text, sizeof(text), "text %u", i);
    changes_text(text);
  }
}

__attribute__((noipa)) void changes_end(void) { __asm__ volatile("" ::: "memory"); }

// Stacks in keys are walked by frame pointers.
#define WITH_FRAME __attribute__((noipa, optimize("no-omit-frame-pointer")))

static void go(unsigned way, unsigned steps);

WITH_FRAME void changes_left(unsigned way, unsigned steps) {
  go(way, steps);
  __asm__ volatile("" ::: "memory");
}

WITH_FRAME void changes_right(unsigned way, unsigned steps) {
  go(way, steps);
  __asm__ volatile("" ::: "memory");
}

WITH_FRAME static void go(unsigned way, unsigned steps) {
  if (steps == 0)
    changes_end();
  else if (way & 1)
    changes_left(way >> 1, steps - 1);
  else
    changes_right(way >> 1, steps - 1);
}

static int become(unsigned user) {
  return setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user);
}

__attribute__((noipa)) int changes_within(unsigned dumpable) {
  const int failed = prctl(PR_SET_DUMPABLE, dumpable);
  __asm__ volatile("" ::: "memory");
  return failed;
}

static int become_of(const char* ids) {
  unsigned id[6];
  if (sscanf(ids, "%u,%u,%u,%u,%u,%u", id, id + 1, id + 2, id + 3, id + 4, id + 5) != 6) return -1;
  return setgroups(0, NULL) || setresgid(id[3], id[4], id[5]) || setresuid(id[0], id[1], id[2]);
}

// Returns whether it succeeded.
static int obey(const char* word, const char* argument) {
  unsigned number = 0;
  sscanf(argument, "%u", &number);
  if (strcmp(word, "call") == 0) {
    for (unsigned i = 0; i < number; ++i) changes_step(i);
    return 1;
  }
  if (strcmp(word, "texts") == 0) call_with_texts(number);
  if (strcmp(word, "ways") == 0)
    for (unsigned i = 0; i < number; ++i) go(i, 16);
  if (strcmp(word, "texts") == 0 || strcmp(word, "ways") == 0) return 1;
  if (strcmp(word, "within") == 0) return !changes_within(number);
  if (strcmp(word, "user") == 0) return !become(number);
  if (strcmp(word, "ids") == 0) return !become_of(argument);
  if (strcmp(word, "dumpable") == 0) return !prctl(PR_SET_DUMPABLE, number);
  if (strcmp(word, "exec") == 0) execl(argument, argument, (char*)NULL);
  return 0;
}

int main(void) {
  // Unbuffered: an executed program continues reading where this one has stopped.
  setvbuf(stdin, NULL, _IONBF, 0);
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  char word[16], argument[256];
  while (scanf("%15s %255s", word, argument) == 2) {
    if (!obey(word, argument)) return 1;
    printf("done\n{\"calls\":%llu}\n", (unsigned long long)calls);
    fflush(stdout);
  }
}
