// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// sized_texts
//
// Texts whose length stands beside them, without a 0 at their ends. The JSON has the texts that `take` was called with,
// null where there is none: where the length is below 0, or the text cannot be read.
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stdin_protocol.h"

struct span {
  const char* text;
  unsigned long length;
};
struct message {
  int id;
  struct span body;
};

volatile long sink;

__attribute__((noipa, used)) void take(const char* text, int length, struct message* message) {
  sink = length + message->id;
  sink = (long)text;
}

static void call(int id, const char* text, int length) {
  struct message message = {id, {text, (unsigned long)length}};
  take(text, length, &message);
}

int main(void) {
  ready_and_wait_for_go();
  static const char kLong[] =
      "0123456789012345678901234567890123456789012345678901234567890123 and more";
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* at_end = two + page - 5;
  memcpy(at_end, "edges", 5);
  munmap(two + page, page);
  call(1, "keyboard", 3);
  call(2, "keypad", 3);
  call(3, at_end, 5);
  call(4, NULL, 0);
  call(5, kLong, (int)sizeof(kLong) - 1);
  call(6, "ends\0early", 10);
  call(7, "below", -1);
  call(8, at_end, 6);
  printf("done\n[\"key\",\"key\",\"edges\",\"\",\"%.64s\",\"ends\",null,null]\n", kLong);
  wait_for_exit();
}
