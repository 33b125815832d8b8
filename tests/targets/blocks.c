// build: -O2 -g -pthread -D_GNU_SOURCE -fno-omit-frame-pointer -fcf-protection=none -fno-optimize-sibling-calls
// SPDX-License-Identifier: BSD-2-Clause
//
// blocks ROUNDS
//
// A thread that waits and works in known functions, on one CPU with another one that never stops. In each round
// blocks_outer calls blocks_read, blocks_left and blocks_hidden, in which the thread waits by read(2) for a byte, and
// blocks_burn. The main thread writes the byte, 1 ms after it has seen in /proc that the waiting thread has left its
// CPU: what lies between is the least that the thread was blocked. The most is what the thread itself saw to pass from
// before to after, without the time for which it could run and the other one had the CPU, which the kernel tells.
// blocks_burn lasts until the other thread has had the CPU. In blocks_left the thread leaves blocks_leave by longjmp
// before it waits; in blocks_hidden the process cannot be looked at.
//
// Prints for each function how often it waited, and for how long at least and at most, in ns, and for how long
// blocks_burn could run and had no CPU, as the kernel tells: {"blocks_read":{"count":N,"least":N,"most":N},...,
// "burn":{"least":N,"most":N},"rounds":N}.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "stdin_protocol.h"

#define TRACED __attribute__((noipa))
#define BYTES_OF_SYSCALL 128
#define BYTES_OF_SCHEDSTAT 96
#define NICE_OF_WORKER 10

enum { READ, LEFT, HIDDEN, PLACES };
static const char* const names[PLACES] = {"blocks_read", "blocks_left", "blocks_hidden"};
static struct { uint64_t count, least, most; } waited[PLACES];

static uint64_t waited_in_burn, waited_around_burn;

static unsigned rounds;
static int bytes[2];
static atomic_int waits_at = -1;  // a place, where the main thread shall write the next byte
static atomic_int worker_tid;
static int syscall_of_worker, schedstat_of_worker;
static jmp_buf out;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// For how long the calling thread could run, and had no CPU. 0 if this kernel does not count it.
static uint64_t waited_for_cpu(void) {
  char text[BYTES_OF_SCHEDSTAT] = "";
  unsigned long ran = 0, waited_ns = 0;
  if (pread(schedstat_of_worker, text, sizeof text - 1, 0) < 1) exit(2);
  return sscanf(text, "%lu %lu", &ran, &waited_ns) == 2 ? waited_ns : 0;
}

// read(2) of the C library keeps no frame pointer, so a walk misses this function.
TRACED static void wait_for_byte(int place) {
  char byte;
  const uint64_t before = now_ns(), waited_before = waited_for_cpu();
  atomic_store(&waits_at, place);
  if (read(bytes[0], &byte, 1) != 1) exit(2);
  const uint64_t waited_within = waited_for_cpu() - waited_before;
  waited[place].most += now_ns() - before - waited_within;
  waited[place].count++;
}

TRACED void blocks_read(void) { wait_for_byte(READ); }

TRACED void blocks_burn(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  const long before = usage.ru_nivcsw;
  const uint64_t waited_before = waited_for_cpu();
  while (usage.ru_nivcsw == before) getrusage(RUSAGE_THREAD, &usage);
  waited_in_burn += waited_for_cpu() - waited_before;
}

TRACED void blocks_leave(int place) {
  if (place < PLACES) longjmp(out, 1);
}

TRACED void blocks_left(void) {
  if (!setjmp(out)) blocks_leave(LEFT);
  wait_for_byte(LEFT);
}

TRACED void blocks_hidden(void) {
  prctl(PR_SET_DUMPABLE, 0);
  wait_for_byte(HIDDEN);
  prctl(PR_SET_DUMPABLE, 1);
}

TRACED void blocks_outer(void) {
  blocks_read();
  const uint64_t waited_before = waited_for_cpu();
  blocks_burn();
  waited_around_burn += waited_for_cpu() - waited_before;
  blocks_left();
  blocks_hidden();
}

static void* work(void* unused) {
  schedstat_of_worker = open("/proc/thread-self/schedstat", O_RDONLY);
  if (schedstat_of_worker < 0 || setpriority(PRIO_PROCESS, 0, NICE_OF_WORKER)) exit(2);
  atomic_store(&worker_tid, (int)syscall(SYS_gettid));
  for (unsigned i = 0; i < rounds; ++i) blocks_outer();
  return unused;
}

static void* burn(void* unused) {
  for (;;) atomic_load(&worker_tid);
  return unused;
}

static pthread_t begin(void* (*what)(void*)) {
  pthread_t thread;
  pthread_attr_t attributes;
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  pthread_attr_init(&attributes);
  pthread_attr_setaffinity_np(&attributes, sizeof first, &first);
  if (pthread_create(&thread, &attributes, what, NULL)) exit(2);
  return thread;
}

// The kernel says "running" of a thread unless it has found it off its CPU.
static void wait_until_off_cpu(void) {
  char text[BYTES_OF_SYSCALL] = "";
  do {
    if (pread(syscall_of_worker, text, sizeof text - 1, 0) < 1) exit(2);
  } while (text[0] < '0' || text[0] > '9' || strtol(text, NULL, 10) != SYS_read);
}

// While the process can be looked at.
static void open_syscall_of_worker(void) {
  char path[64];
  while (!atomic_load(&worker_tid)) sched_yield();
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", atomic_load(&worker_tid));
  syscall_of_worker = open(path, O_RDONLY);
  if (syscall_of_worker < 0) exit(2);
}

TRACED void blocks_wake(void) {
  const struct timespec a_while = {0, 1000000};
  int place;
  while ((place = atomic_exchange(&waits_at, -1)) < 0) sched_yield();
  wait_until_off_cpu();
  const uint64_t before = now_ns();
  nanosleep(&a_while, NULL);
  waited[place].least += now_ns() - before;
  if (write(bytes[1], "", 1) != 1) exit(2);
}

int main(int argc, char** argv) {
  rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 10;
  if (pipe(bytes)) return 2;
  ready_and_wait_for_go();
  begin(burn);
  const pthread_t worker = begin(work);
  open_syscall_of_worker();
  for (unsigned i = 0; i < rounds * PLACES; ++i) blocks_wake();
  pthread_join(worker, NULL);
  printf("done\n{");
  for (int i = 0; i < PLACES; ++i)
    printf("\"%s\":{\"count\":%lu,\"least\":%lu,\"most\":%lu},", names[i], waited[i].count,
           waited[i].least, waited[i].most);
  printf("\"burn\":{\"least\":%lu,\"most\":%lu},\"rounds\":%u}\n", waited_in_burn,
         waited_around_burn, rounds);
  wait_for_exit();
  _exit(0);
}
