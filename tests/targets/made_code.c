// build: -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// made_code [FOLDER]
//
// Makes code at run time: a copy of `caller` in memory without a file, which calls `leaf` every millisecond, and is
// listed in /tmp/perf-PID.map as made_first, or in FOLDER/jit-PID.dump. At SIGUSR1 the list goes on, and calls it
// made_second. Prints "ready"; ends with its standard input, and then takes its list away.
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kBytes = 256 };

typedef void Callee(void);
typedef void Caller(Callee*);

__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }
__attribute__((noinline)) void caller(Callee* callee) {
  callee();
  __asm__ volatile("");
}

static Caller* made;
static char list[4096];
static int is_dump;

struct dump_header {
  uint32_t magic, version, size, machine, unused, pid;
  uint64_t timestamp, flags;
};
struct dump_record {
  uint32_t kind, size;
  uint64_t timestamp;
  uint32_t pid, tid;
  uint64_t address_in_file, address, code_bytes, index;
};

static FILE* open_list(const char* mode) {
  FILE* file = fopen(list, mode);
  if (!file) exit(1);
  return file;
}

static void begin_dump(void) {
  FILE* file = open_list("w+");
  const struct dump_header header = {
      .magic = 0x4A695444, .version = 1, .size = sizeof(header), .pid = (uint32_t)getpid()};
  fwrite(&header, sizeof(header), 1, file);
  fflush(file);
  if (mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) == MAP_FAILED) exit(1);
  fclose(file);
}

static void name_in_dump(FILE* file, const char* name) {
  const struct dump_record record = {.size = (uint32_t)(sizeof(record) + strlen(name) + 1 + kBytes),
                                     .pid = (uint32_t)getpid(),
                                     .address = (uint64_t)made,
                                     .code_bytes = kBytes};
  fwrite(&record, sizeof(record), 1, file);
  fwrite(name, strlen(name) + 1, 1, file);
  fwrite((const void*)made, kBytes, 1, file);
}

static void name_it(const char* name) {
  FILE* file = open_list("a");
  if (is_dump)
    name_in_dump(file, name);
  else
    fprintf(file, "%lx %x %s\n", (unsigned long)made, kBytes, name);
  fclose(file);
}

static volatile sig_atomic_t asked;
static void note(int number) { asked = number; }

int main(int count, char** words) {
  void* memory =
      mmap(NULL, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  memcpy(memory, (const void*)caller, kBytes);
  __builtin___clear_cache(memory, (char*)memory + kBytes);
  made = (Caller*)memory;
  is_dump = count > 1;
  if (is_dump) {
    snprintf(list, sizeof(list), "%s/jit-%d.dump", words[1], (int)getpid());
    begin_dump();
  } else {
    snprintf(list, sizeof(list), "/tmp/perf-%d.map", (int)getpid());
  }
  name_it("made_first");
  signal(SIGUSR1, note);
  puts("ready");
  fflush(stdout);
  for (struct pollfd in = {.fd = 0, .events = POLLIN}; poll(&in, 1, 1) <= 0;) {
    made(leaf);
    if (asked) name_it("made_second");
    asked = 0;
  }
  unlink(list);
}
