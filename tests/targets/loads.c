// build: -O2 -g -rdynamic -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// Input lines, each answered by `done` and a line of JSON, until `exit`:
//   open PATH      loads the library, which has a function loads_work or plugin_work
//   call N         calls that N times
//   getppid N      calls the function of the C library N times
//   close          unloads the library
//   loop PATH N    loads the library, calls its function and unloads it, N times
//   many PATH N    the same with the libraries PATH.0 to PATH.N-1, which stay loaded
//   fork           a child takes the lines from now on, until `exit`
#include <dlfcn.h>
#include <inttypes.h>
#include <sys/wait.h>

#include "stdin_protocol.h"

typedef uint64_t function(uint64_t n);

static void* library;
static function* work;

static void load(const char* path) {
  library = dlopen(path, RTLD_NOW);
  if (!library) abort();
  void* found = dlsym(library, "loads_work");
  if (!found) found = dlsym(library, "plugin_work");
  if (!found) abort();
  work = (function*)(uintptr_t)found;
}

static void call(unsigned long times) {
  for (unsigned long i = 0; i < times; ++i) work(i);
}

static void loop(const char* path, unsigned long times) {
  for (unsigned long i = 0; i < times; ++i) {
    load(path);
    call(1);
    dlclose(library);
  }
}

static void load_many(const char* path, unsigned long times) {
  char name[300];
  for (unsigned long i = 0; i < times; ++i) {
    snprintf(name, sizeof name, "%s.%lu", path, i);
    load(name);
    call(1);
  }
}

static void call_getppid(unsigned long times) {
  for (unsigned long i = 0; i < times; ++i) getppid();
}

static void go_on_in_child(void) {
  const pid_t child = fork();
  if (child <= 0) return;
  waitpid(child, NULL, 0);
  exit(0);
}

static void run(const char* command, const char* argument, const char* times) {
  const unsigned long n = strtoul(times[0] ? times : argument, NULL, 10);
  if (strcmp(command, "open") == 0) load(argument);
  if (strcmp(command, "call") == 0) call(n);
  if (strcmp(command, "getppid") == 0) call_getppid(n);
  if (strcmp(command, "close") == 0) dlclose(library);
  if (strcmp(command, "loop") == 0) loop(argument, n);
  if (strcmp(command, "many") == 0) load_many(argument, n);
  if (strcmp(command, "fork") == 0) go_on_in_child();
}

int main(void) {
  char line[256];
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    char command[16] = "", argument[200] = "", times[24] = "";
    sscanf(line, "%15s %199s %23s", command, argument, times);
    if (strcmp(command, "exit") == 0) break;
    run(command, argument, times);
    printf("done\n{\"pid\":%d}\n", (int)getpid());
    fflush(stdout);
  }
  return 0;
}
