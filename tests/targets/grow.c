// build: -O2 -g -rdynamic -pthread -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// grow PLUGIN THREADS
//
// THREADS threads call grow_root from `go` until the line `stop`. It calls functions by pointers that are
// looked up by name at run time, so nothing in the file identifies them, with every kind of instruction that
// compilers use for that: grow_a, grow_b, grow_c and grow_e are in this file, plugin_work is in PLUGIN, abs
// is in the C library, and a piece of code is in no file at all. One more thread is in grow_root, in hold,
// from `go` to `stop`. At the end the number of calls of grow_root is printed; each of the others except hold
// was called as often.
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#include "stdin_protocol.h"

#define TRACED __attribute__((noipa))
#define MOST_THREADS 16
#define HELD UINT64_MAX
#define PAUSE_US 3000  // after each call, so that no event is lost

typedef uint64_t function(uint64_t n);
struct operations {
  uint64_t unused;
  function* operation;
};

static function* table[3];
static function *variable, *in_register, *jumped_to;
static struct operations operations;
static atomic_bool stopped;

TRACED uint64_t grow_inner(uint64_t n) { return n * 3; }
TRACED uint64_t grow_a(uint64_t n) { return n + 1; }
TRACED uint64_t grow_b(uint64_t n) { return grow_inner(n) + 1; }
TRACED uint64_t grow_c(uint64_t n) { return n ^ 5; }
TRACED uint64_t grow_e(uint64_t n) { return n ^ 9; }

TRACED uint64_t by_table(uint64_t n) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 3; ++i) sum += table[i](n);
  return sum;
}
TRACED uint64_t by_register(function* called, uint64_t n) { return called(n) + 1; }
TRACED uint64_t by_member(const struct operations* of, uint64_t n) { return of->operation(n) + 1; }
TRACED uint64_t by_variable(uint64_t n) { return variable(n) + 1; }
TRACED uint64_t by_jump(function* called, uint64_t n) { return called(n); }

TRACED void hold(void) {
  while (!atomic_load(&stopped)) usleep(PAUSE_US);
}

TRACED uint64_t grow_root(uint64_t n) {
  if (n == HELD) hold();
  return by_table(n) + by_register(in_register, n) + by_member(&operations, n) + by_variable(n) +
         by_jump(jumped_to, n) + 1;
}

static function* look_up(void* in, const char* name) {
  void* found = dlsym(in, name);
  if (!found) abort();
  return (function*)(uintptr_t)found;
}

static function* code_of_no_file(void) {
  static const unsigned char kReturn = 0xc3;
  unsigned char* page =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) abort();
  page[0] = kReturn;
  if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0) abort();
  return (function*)(uintptr_t)page;
}

static void look_up_all(const char* plugin_path) {
  void* self = dlopen(NULL, RTLD_NOW);
  void* plugin = dlopen(plugin_path, RTLD_NOW);
  if (!self || !plugin) abort();
  table[0] = look_up(self, "grow_a");
  table[1] = look_up(self, "abs");
  table[2] = code_of_no_file();
  in_register = look_up(self, "grow_b");
  operations.operation = look_up(self, "grow_c");
  variable = look_up(plugin, "plugin_work");
  jumped_to = look_up(self, "grow_e");
}

static void* run_held(void* unused) {
  grow_root(HELD);
  return unused;
}

static void* run(void* roots) {
  while (!atomic_load(&stopped)) {
    grow_root(*(uint64_t*)roots);
    ++*(uint64_t*)roots;
    usleep(PAUSE_US);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int threads = atoi(argv[2]);
  static uint64_t roots[MOST_THREADS];
  pthread_t running[MOST_THREADS], held;
  if (threads < 1 || threads > MOST_THREADS) return 2;
  ready_and_wait_for_go();
  look_up_all(argv[1]);
  pthread_create(&held, NULL, run_held, NULL);
  for (int i = 0; i < threads; ++i) pthread_create(&running[i], NULL, run, &roots[i]);
  wait_for_line("stop");
  atomic_store(&stopped, true);
  pthread_join(held, NULL);
  uint64_t all = 1;
  for (int i = 0; i < threads; ++i) {
    pthread_join(running[i], NULL);
    all += roots[i];
  }
  printf("done\n{\"roots\":%" PRIu64 "}\n", all);
  wait_for_exit();
  return 0;
}
