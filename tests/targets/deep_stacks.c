// build: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// deep_stacks THREADS LEVELS
//
// The first thread and THREADS others call `hit` again and again from chains of up to LEVELS of the functions
// small, large and grows, whose frames differ, those of grows from call to call, and once on a stack other
// than the thread's. Reports for each thread its number, how often it called hit on its own stack, how often
// with more than kMuch bytes of it in use (`much`), how often a call was deeper than all before (`records`),
// and for the deepest call the bytes in use and the functions from hit outwards to `work` with the size of
// each.
//
// Expect: at hit's entry the stack pointer is 8 below its CFA; a function extends from its callee's CFA to
// its own; the top of the first thread's stack is where the kernel began it, that of other threads is where
// pthread_self() points.
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <ucontext.h>

#include "stdin_protocol.h"

#define NOIPA __attribute__((noipa))

enum { kMostThreads = 8, kMostLevels = 100, kRounds = 60, kMuch = 2000, kOther = 64 * 1024 };

// An open call, and the one around it.
struct link {
  const struct link* around;
  const char* function;
  uintptr_t cfa;
};

struct frame {
  const char* function;
  uintptr_t cfa;
};

struct thread {
  unsigned number;
  uintptr_t top;
  int tid;
  uint64_t hits, much, records, deepest;
  struct frame frames[kMostLevels + 2];
  unsigned frame_count;
  ucontext_t own, other;
  char other_stack[kOther];
};

static struct thread threads[kMostThreads];
static unsigned levels;
static volatile uint64_t sum;

static void keep(struct thread* thread, const struct link* innermost, uint64_t bytes) {
  thread->deepest = bytes;
  thread->records++;
  thread->frame_count = 0;
  for (const struct link* one = innermost; one; one = one->around)
    thread->frames[thread->frame_count++] = (struct frame){one->function, one->cfa};
}

// `thread` is null on another stack.
NOIPA void hit(struct thread* thread, const struct link* around) {
  const struct link here = {around, "hit", (uintptr_t)__builtin_dwarf_cfa()};
  sum++;
  if (!thread) return;
  const uint64_t bytes = thread->top - (here.cfa - 8);
  thread->hits++;
  thread->much += bytes > kMuch;
  if (bytes > thread->deepest) keep(thread, &here, bytes);
}

static void go_on(struct thread* thread, const struct link* around, unsigned left, unsigned round);

NOIPA void small(struct thread* thread, const struct link* around, unsigned left, unsigned round) {
  const struct link here = {around, "small", (uintptr_t)__builtin_dwarf_cfa()};
  go_on(thread, &here, left, round);
  sum++;
}

NOIPA void large(struct thread* thread, const struct link* around, unsigned left, unsigned round) {
  const struct link here = {around, "large", (uintptr_t)__builtin_dwarf_cfa()};
  volatile char room[1000];
  room[0] = (char)left;
  go_on(thread, &here, left, round);
  sum += (uint64_t)room[0];
}

NOIPA void grows(struct thread* thread, const struct link* around, unsigned left, unsigned round) {
  const struct link here = {around, "grows", (uintptr_t)__builtin_dwarf_cfa()};
  volatile char* room = alloca(16 + 24 * (round % 20));
  room[0] = (char)left;
  go_on(thread, &here, left, round);
  sum += (uint64_t)room[0];
}

static inline __attribute__((always_inline)) void go_on(struct thread* thread,
                                                        const struct link* around, unsigned left,
                                                        unsigned round) {
  if (left == 0) return hit(thread, around);
  switch ((left + round + thread->number) % 3) {
    case 0: return small(thread, around, left - 1, round);
    case 1: return large(thread, around, left - 1, round);
    default: return grows(thread, around, left - 1, round);
  }
}

static void hit_elsewhere(void) { hit(NULL, NULL); }

static void switch_stacks(struct thread* thread) {
  getcontext(&thread->other);
  thread->other.uc_stack.ss_sp = thread->other_stack;
  thread->other.uc_stack.ss_size = kOther;
  thread->other.uc_link = &thread->own;
  makecontext(&thread->other, hit_elsewhere, 0);
  swapcontext(&thread->own, &thread->other);
}

// The depth of chains grows and shrinks from round to round.
NOIPA void work(struct thread* thread) {
  const struct link here = {NULL, "work", (uintptr_t)__builtin_dwarf_cfa()};
  thread->tid = gettid();
  for (unsigned round = 0; round < kRounds; ++round)
    go_on(thread, &here, (round * 7 + thread->number) % levels + 1, round);
  switch_stacks(thread);
  sum++;
}

static void* run_thread(void* argument) {
  struct thread* thread = argument;
  thread->top = (uintptr_t)pthread_self();
  work(thread);
  return NULL;
}

// Field 28 of proc_pid_stat(5); the name in parentheses has no spaces here.
static uintptr_t start_of_stack(void) {
  unsigned long long start = 0;
  FILE* file = fopen("/proc/self/stat", "r");
  if (!file) abort();
  if (fscanf(file, "%*d %*s %*c") < 0) abort();
  for (int field = 4; field < 28; ++field)
    if (fscanf(file, "%*s") < 0) abort();
  if (fscanf(file, "%llu", &start) != 1) abort();
  fclose(file);
  return start;
}

static void print(const struct thread* thread) {
  printf("{\"tid\":%d,\"hits\":%llu,\"much\":%llu,\"records\":%llu,\"bytes\":%llu,\"frames\":[",
         thread->tid, (unsigned long long)thread->hits, (unsigned long long)thread->much,
         (unsigned long long)thread->records, (unsigned long long)thread->deepest);
  uintptr_t below = thread->frames[0].cfa - 8;
  for (unsigned i = 0; i < thread->frame_count; ++i) {
    printf("%s[\"%s\",%llu]", i ? "," : "", thread->frames[i].function,
           (unsigned long long)(thread->frames[i].cfa - below));
    below = thread->frames[i].cfa;
  }
  printf("]}");
}

int main(int argc, char** argv) {
  const unsigned others = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
  levels = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 6;
  if (others >= kMostThreads || levels == 0 || levels > kMostLevels) return 2;
  pthread_t handles[kMostThreads];
  for (unsigned i = 0; i <= others; ++i) threads[i].number = i;
  threads[0].top = start_of_stack();
  ready_and_wait_for_go();
  for (unsigned i = 1; i <= others; ++i)
    if (pthread_create(&handles[i], NULL, run_thread, &threads[i])) abort();
  work(&threads[0]);
  for (unsigned i = 1; i <= others; ++i) pthread_join(handles[i], NULL);
  printf("done\n{\"threads\":[");
  for (unsigned i = 0; i <= others; ++i) {
    if (i) printf(",");
    print(&threads[i]);
  }
  printf("]}\n");
  wait_for_exit();
  return 0;
}
