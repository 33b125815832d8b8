// build: -O2 -g -pthread
// SPDX-License-Identifier: BSD-2-Clause
//
// runtime_probes [later]
//
// Makes probes on request, one line each, and answers each with `done` and a line of JSON. A hit is counted
// when an argument is computed, that is, when the probe is enabled and its site is called.
//
//     make                      makes and loads the probes; done before `ready` if not started with `later`:
//                               {"loaded":0 or -1,"errno":...}
//     fire TIMES                passes each probe of the provider rt: {"types":HITS,...}
//     numbered TIMES SEED       passes probes user_trace__nN with random N: {"N":HITS,...} for those hit
//     more NAME                 adds rt:NAME, with the argument `number`, and loads it
//     again TIMES               passes the one that was added last: {"hits":HITS}
//     spin                      passes all probes of rt in four threads, until
//     stop                      {"hits":HITS}
//     remove                    removes all probes of rt
//     fork TIMES                passes those of rt in a child: {"pid":PID,"hits":...} after a line `go`;
//                               the child stays until the line `end`
//     children TIMES            forks TIMES children, each of which adds and loads a probe, while a thread
//                               does the same: {"failed":how many did not succeed within 20 s}
//     state                     {"raised":how many semaphores are not 0,"images":mappings of images}
//     forbid memfd|code|write   from now on the kernel refuses memfd_create; mappings of code; mappings
//                               that are both writable and executable
#include <errno.h>
#include <inttypes.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tracectl/runtime.h>

#include "tests/targets/stdin_protocol.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

enum { THREADS = 4, MOST_MORE = 64 };

static tracectl_provider* provider;
static tracectl_user_trace* trace;
static const tracectl_probe *_Atomic plain, *_Atomic types, *_Atomic twelve, *_Atomic dashed;
static const tracectl_probe* more[MOST_MORE];
static size_t more_count;
static uint64_t by_number[TRACECTL_USER_TRACE_MANY];

struct hits {
  uint64_t plain, types, twelve, dashed;
};

static const tracectl_argument type_arguments[] = {
    {TRACECTL_INT8, "i8"},    {TRACECTL_UINT8, "u8"},     {TRACECTL_INT16, "i16"},
    {TRACECTL_UINT16, "u16"}, {TRACECTL_INT32, "i32"},    {TRACECTL_UINT32, "u32"},
    {TRACECTL_INT64, "i64"},  {TRACECTL_UINT64, "u64"},   {TRACECTL_POINTER, "pointer"},
    {TRACECTL_TEXT, "text"},  {TRACECTL_TEXT, "no_text"}, {TRACECTL_UINT64, NULL}};

static void make_probes(void) {
  static const tracectl_argument one[] = {{TRACECTL_UINT64, "number"}};
  tracectl_argument numbers[TRACECTL_MOST_ARGUMENTS];
  for (size_t i = 0; i < TRACECTL_MOST_ARGUMENTS; ++i)
    numbers[i] = (tracectl_argument){TRACECTL_INT32, NULL};
  provider = tracectl_provider_create("rt", NULL);
  plain = tracectl_probe_add(provider, "plain", NULL, 0);
  types = tracectl_probe_add(provider, "types", type_arguments, 12);
  twelve = tracectl_probe_add(provider, "twelve", numbers, 12);
  dashed = tracectl_probe_add(provider, "dashed__name", one, 1);
  trace = tracectl_user_trace_add(provider, TRACECTL_USER_TRACE_MANY);
}

// Expect: extreme values unchanged; the texts "runtime" and null; arg11 counts the hits from 0.
static void pass_all(struct hits* hits) {
  if (tracectl_probe_enabled(plain)) ++hits->plain;
  TRACECTL_FIRE(plain);
  TRACECTL_FIRE(types, INT8_MIN, UINT8_MAX, INT16_MIN, UINT16_MAX, INT32_MIN, UINT32_MAX, INT64_MIN,
                UINT64_MAX, &by_number[1], "runtime", NULL, hits->types++);
  TRACECTL_FIRE(twelve, 1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, (++hits->twelve, -12));
  TRACECTL_FIRE(dashed, hits->dashed++);
}

static void print_hits(const struct hits* hits) {
  printf("\"plain\":%" PRIu64 ",\"types\":%" PRIu64 ",\"twelve\":%" PRIu64
         ",\"dashed__name\":%" PRIu64,
         hits->plain, hits->types, hits->twelve, hits->dashed);
}

static void fire(unsigned long times) {
  struct hits hits = {0};
  for (unsigned long i = 0; i < times; ++i) pass_all(&hits);
  printf("done\n{");
  print_hits(&hits);
  printf(",\"pointer\":%" PRIu64 "}\n", (uint64_t)(uintptr_t)&by_number[1]);
}

// ---- dyntrace ----

// Expect: as many integers 1, 2, ... and texts "1", "2", ... as the remainders of the number say.
static void pass_number(size_t number) {
  static const int64_t integers[] = {1, 2, 3, 4};
  static const char* const texts[] = {"1", "2", "3", "4"};
  if (tracectl_user_trace_enabled(trace, number)) ++by_number[number];
  tracectl_user_trace_fire(trace, number, "<0.32.0>", number % 2 ? "tag" : NULL, integers,
                           number % 5, texts, number % 3);
}

// The number after the last one is passed as well, and must do nothing.
static void fire_numbers(unsigned long times, uint64_t state) {
  memset(by_number, 0, sizeof by_number);
  for (unsigned long i = 0; i < times; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    pass_number((state >> 33) % TRACECTL_USER_TRACE_MANY);
    tracectl_user_trace_fire(trace, TRACECTL_USER_TRACE_MANY, NULL, NULL, NULL, 0, NULL, 0);
  }
  printf("done\n{");
  const char* comma = "";
  for (size_t i = 0; i < TRACECTL_USER_TRACE_MANY; ++i) {
    if (by_number[i]) printf("%s\"%zu\":%" PRIu64, comma, i, by_number[i]);
    if (by_number[i]) comma = ",";
  }
  printf("}\n");
}

// ---- later probes ----

static void load(void) {
  const int loaded = tracectl_provider_load(provider);
  printf("done\n{\"loaded\":%d,\"errno\":%d}\n", loaded, loaded ? errno : 0);
}

static void add_more(const char* name) {
  static const tracectl_argument one[] = {{TRACECTL_UINT64, "number"}};
  const tracectl_probe* const probe = tracectl_probe_add(provider, name, one, 1);
  if (more_count < MOST_MORE && probe) more[more_count++] = probe;
  load();
}

static void fire_last(unsigned long times) {
  uint64_t hits = 0;
  for (unsigned long i = 0; i < times && more_count; ++i)
    TRACECTL_FIRE(more[more_count - 1], hits++);
  printf("done\n{\"hits\":%" PRIu64 "}\n", hits);
}

// ---- threads ----

static pthread_t threads[THREADS];
static atomic_bool spinning;
static struct hits thread_hits[THREADS];

static void* spin(void* hits) {
  while (spinning) pass_all(hits);
  return NULL;
}

static void start_threads(void) {
  spinning = true;
  memset(thread_hits, 0, sizeof thread_hits);
  for (size_t i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, spin, &thread_hits[i]);
  printf("done\n{}\n");
}

static void stop_threads(void) {
  struct hits all = {0};
  spinning = false;
  for (size_t i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], NULL);
    all.plain += thread_hits[i].plain;
    all.types += thread_hits[i].types;
    all.twelve += thread_hits[i].twelve;
    all.dashed += thread_hits[i].dashed;
  }
  printf("done\n{");
  print_hits(&all);
  printf("}\n");
}

// ---- processes, and what the kernel forbids ----

static void fire_in_child(unsigned long times) {
  const pid_t child = fork();
  if (child == 0) {
    printf("done\n{\"pid\":%d}\n", (int)getpid());
    fflush(stdout);
    wait_for_line("go");
    fire(times);
    fflush(stdout);
    wait_for_line("end");
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

static void* load_and_free(void* unused) {
  while (spinning) {
    tracectl_provider* const busy = tracectl_provider_create("busy", NULL);
    tracectl_probe_add(busy, "busy", NULL, 0);
    tracectl_provider_load(busy);
    tracectl_provider_free(busy);
  }
  return unused;
}

static void load_in_children(unsigned long times) {
  unsigned failed = 0;
  spinning = true;
  pthread_create(&threads[0], NULL, load_and_free, NULL);
  for (unsigned long i = 0; i < times && failed == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(!tracectl_probe_add(provider, "child", NULL, 0) || tracectl_provider_load(provider));
    }
    int status = -1;
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  spinning = false;
  pthread_join(threads[0], NULL);
  printf("done\n{\"failed\":%u}\n", failed);
}

static unsigned raised(void) {
  unsigned count = 0;
  const tracectl_probe* const all[] = {plain, types, twelve, dashed};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) count += tracectl_probe_enabled(all[i]);
  for (size_t i = 0; i < more_count; ++i) count += tracectl_probe_enabled(more[i]);
  for (size_t i = 0; i < TRACECTL_USER_TRACE_MANY; ++i)
    count += tracectl_user_trace_enabled(trace, i);
  return count + tracectl_user_trace_enabled(trace, TRACECTL_USER_TRACE_NO_NUMBER);
}

static unsigned images(void) {
  unsigned count = 0;
  char line[4096];
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) count += strstr(line, " r-xp ") && strstr(line, "usdt-rt");
  fclose(maps);
  return count;
}

static void print_state(void) {
  printf("done\n{\"raised\":%u,\"images\":%u}\n", raised(), images());
}

// System calls `number` whose argument 2 has one of the bits (0: all of them) fail with EACCES.
static int refuse(uint32_t number, uint32_t bits) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(bits ? BPF_JMP | BPF_JSET | BPF_K : BPF_JMP | BPF_JGE | BPF_K, bits, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {.len = sizeof code / sizeof *code, .filter = code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return errno;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) ? errno : 0;
}

static void forbid(const char* what) {
  int error = EINVAL;
  if (strcmp(what, "memfd") == 0) error = refuse(SYS_memfd_create, 0);
  if (strcmp(what, "code") == 0) error = refuse(SYS_mmap, PROT_EXEC);
  if (strcmp(what, "write") == 0) error = prctl(PR_SET_MDWE, 1, 0, 0, 0) ? errno : 0;
  printf("done\n{\"errno\":%d}\n", error);
}

static void obey(const char* command, const char* word, unsigned long number) {
  const unsigned long times = strtoul(word, NULL, 10);
  if (strcmp(command, "make") == 0) make_probes(), load();
  if (strcmp(command, "fire") == 0) fire(times);
  if (strcmp(command, "numbered") == 0) fire_numbers(times, number);
  if (strcmp(command, "more") == 0) add_more(word);
  if (strcmp(command, "again") == 0) fire_last(times);
  if (strcmp(command, "spin") == 0) start_threads();
  if (strcmp(command, "stop") == 0) stop_threads();
  if (strcmp(command, "remove") == 0)
    printf("done\n{\"removed\":%d}\n", tracectl_provider_remove(provider));
  if (strcmp(command, "fork") == 0) fire_in_child(times);
  if (strcmp(command, "children") == 0) load_in_children(times);
  if (strcmp(command, "state") == 0) print_state();
  if (strcmp(command, "forbid") == 0) forbid(word);
  fflush(stdout);
}

int main(int argc, char** argv) {
  (void)argv;
  setvbuf(stdin, NULL, _IONBF, 0);  // a child continues reading where its parent stopped
  if (argc == 1) {
    make_probes();
    if (tracectl_provider_load(provider)) return 1;
  }
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  char line[256], command[32], word[128];
  unsigned long number = 0;
  while (fgets(line, sizeof line, stdin)) {
    word[0] = 0;
    if (sscanf(line, "%31s %127s %lu", command, word, &number) < 1) continue;
    if (strcmp(command, "exit") == 0) break;
    obey(command, word, number);
  }
  tracectl_provider_free(provider);
  return 0;
}
