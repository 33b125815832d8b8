// build: -O2 -g -pthread -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// tag_steps
//
// Changes the tag of its thread (<tracectl/tag.h>) on request, line by line, and reports after each
// {"tag":"..."}, the current tag:
//     put TEXT    | put nothing
//     spread      stores the tag that is spread
//     restore     restores the stored tag
//     work N      calls work(N)
//     thread N    another thread restores the stored tag, and calls work(N)
//     fork N      the same in a child
//     execute     executes tag_steps again
//     spoil       overwrites its copy of the tag, as when the memory of an unloaded library is reused
//
// Expect: work begins with a 5-byte nop. One executable part of it is not an ELF file.
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tracectl/tag.h>

#include "nop5_first.h"
#include "stdin_protocol.h"

static volatile uint64_t worked;
static struct tracectl_tag kept;

__attribute__((noipa)) void work(uint64_t n) {
  NOP5_FIRST;
  worked += n;
}

static void* work_for_kept(void* n) {
  tracectl_tag_restore(&kept);
  work((uintptr_t)n);
  return NULL;
}

static void in_thread(uint64_t n) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, work_for_kept, (void*)n) != 0) exit(1);
  pthread_join(thread, NULL);
}

static void in_child(uint64_t n) {
  const pid_t child = fork();
  if (child < 0) exit(1);
  if (child == 0) {
    work_for_kept((void*)n);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

static void execute(char** argv) {
  execv("/proc/self/exe", argv);
  exit(1);
}

static void spoil(struct tracectl_tag_state_* own) {
  memset(own, 'x', sizeof *own);
  own->texts[0][TRACECTL_TAG_BYTES - 1] = own->texts[1][TRACECTL_TAG_BYTES - 1] = 0;
}

static void obey(const char* order, const char* operand, char** argv) {
  const uint64_t n = strtoull(operand, NULL, 10);
  if (strcmp(order, "put") == 0) tracectl_tag_put(strcmp(operand, "nothing") ? operand : NULL);
  if (strcmp(order, "spread") == 0) kept = tracectl_tag_spread();
  if (strcmp(order, "restore") == 0) tracectl_tag_restore(&kept);
  if (strcmp(order, "work") == 0) work(n);
  if (strcmp(order, "thread") == 0) in_thread(n);
  if (strcmp(order, "fork") == 0) in_child(n);
  if (strcmp(order, "execute") == 0) execute(argv);
  if (strcmp(order, "spoil") == 0) spoil(tracectl_tag_own_());
}

int main(int argc, char** argv) {
  char line[256];
  (void)argc;
  if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
    return 1;
  // Unbuffered: the executed program continues reading where this one has stopped.
  setvbuf(stdin, NULL, _IONBF, 0);
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    char* operand = strchr(line, ' ');
    if (operand) *operand++ = 0;
    obey(line, operand ? operand : "", argv);
    printf("done\n{\"tag\":\"%s\"}\n", tracectl_tag_get());
    fflush(stdout);
  }
  return 0;
}
