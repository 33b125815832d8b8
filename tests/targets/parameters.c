// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// parameters
//
// Functions with parameters of many types, each called once. The comment on each says where the calling
// convention puts its parameters. The JSON has the values passed, by function; null for those that no probe
// can read.
#include <inttypes.h>
#include <stdbool.h>

#include "stdin_protocol.h"

#ifdef __clang__
#define KEPT __attribute__((noinline, minsize, used))
#else
#define KEPT __attribute__((noinline, noclone, used))
#endif

enum color { RED, GREEN = 7, BLUE };
enum level { LOW = -3, HIGH = 5 };
typedef enum color color_type;

struct pair {
  int a, b;
};
struct floats {
  float x, y;
};
struct both {
  double x;
  long n;
};
struct large {
  long n[4];
};
struct bits {
  unsigned low : 3;
  int high : 29;
  float f;
};
union number {
  float f;
  int n;
};
struct __attribute__((packed)) unaligned {
  char c;
  int n;
};

volatile long sink;

// Expect: %rdi %rsi %rdx %rcx %r8 %r9 8(%rsp) 16(%rsp)
KEPT void widths(int8_t s1, uint8_t u1, int16_t s2, uint16_t u2, int32_t s4, uint32_t u4,
                 int64_t s8, uint64_t u8) {
  sink = s1 + u1 + s2 + u2 + s4 + u4 + s8 + (long)u8;
}
// Expect: %rdi %xmm0 %rsi %rdx %xmm1 %rcx %r8 %r9
KEPT void kinds(int size, double ratio, bool fast, enum color mode, float weight, const char* path,
                struct pair* where, char letter) {
  sink = size + (long)ratio + fast + (long)mode + (long)weight + (long)path + (long)where + letter;
}
// Expect: %rdi (8 bytes), the stack (32 bytes), %rsi, %xmm0, %xmm1 and %rdx, %rcx
KEPT void aggregates(struct pair small, struct large big, int after, struct floats two,
                     struct both mixed, long last) {
  sink = small.a + big.n[1] + after + (long)two.y + (long)mixed.x + mixed.n + last;
}
// Expect: %rdi, %rsi, 8(%rsp), %rdx
KEPT void odd_aggregates(struct bits bits, union number number, struct unaligned unaligned,
                         short after) {
  sink = bits.high + number.n + unaligned.n + after;
}
// Expect: %rdi for the result, %rsi
KEPT struct large returns_large(int n) {
  sink = n;
  return (struct large){{n}};
}
// Expect: six registers, 8(%rsp), 24(%rsp) as it is aligned to 16, 40(%rsp)
KEPT void on_stack(long a, long b, long c, long d, long e, long f, signed char g, long double h,
                   short i) {
  sink = a + b + c + d + e + f + g + (long)h + i;
}
// Expect: %rdi and %rsi, %rdx
KEPT void wide(__int128 big, unsigned after) { sink = (long)big + after; }
// Expect: %rdi, %rsi, %rdx
KEPT void enums(enum level low, color_type typed, enum color unnamed) {
  sink = (long)low + (long)typed + (long)unnamed;
}
// Expect: %rdi, %rsi, %rdx, %rcx
KEPT void pointers(int (*call)(void), char** list, const volatile void* any, char* const text) {
  sink = (long)call + (long)list + (long)any + (long)text;
}
// Expect: nothing
KEPT int none(void) { return (int)++sink; }
// Expect: %rdi
KEPT void variadic(const char* format, ...) { sink = (long)format; }
// Expect: %rdi, local
KEPT static void local(int n) { sink = n; }

// Expect: not the usual convention; %rcx %rdx
KEPT __attribute__((ms_abi)) void windows(int a, int b) { sink = a - b; }
// Expect: %rdi %rsi; clang drops the first one, and the second one comes in %rdi
__attribute__((noinline)) static void dropped(int unused, int n) {
  (void)unused;
  sink = n;
}
// Expect: %rdi, an address; clang passes the number itself instead
__attribute__((noinline)) static void promoted(const int* place) { sink = *place; }

int main(void) {
  ready_and_wait_for_go();
  static struct pair place;
  static const char path[] = "/a/path";
  char* list[1] = {0};
  widths(-1, 200, -2, 65535, -3, 4000000000u, INT64_MIN, UINT64_MAX);
  kinds(5, 0.5, true, GREEN, 1.5f, path, &place, 'x');
  aggregates((struct pair){1, 2}, (struct large){{3}}, 4, (struct floats){5, 6},
             (struct both){7, 8}, -9);
  odd_aggregates((struct bits){1, 2, 3}, (union number){4}, (struct unaligned){5, 6}, -7);
  const struct large large = returns_large(11);
  on_stack(1, 2, 3, 4, 5, 6, -7, 8, -9);
  wide((__int128)1 << 100, 12);
  enums(LOW, BLUE, (enum color)3);
  pointers(none, list, &place, list[0]);
  none();
  variadic(path, 1, 2.5);
  local(-13);
  windows(1, 2);
  dropped(1, (int)sink);
  promoted(&place.a);
  printf("done\n{\"widths\":[-1,200,-2,65535,-3,4000000000,%" PRId64 ",%" PRIu64 "],", INT64_MIN,
         UINT64_MAX);
  printf("\"kinds\":[5,null,1,7,null,%lu,%lu,120],", (long)path, (long)&place);
  printf("\"aggregates\":[null,null,4,null,null,-9],\"odd_aggregates\":[null,null,null,-7],");
  printf("\"returns_large\":[%ld],\"on_stack\":[1,2,3,4,5,6,-7,null,-9],", large.n[0]);
  printf("\"wide\":[null,12],\"enums\":[-3,8,3],");
  printf("\"pointers\":[%lu,%lu,%lu,0],", (long)none, (long)list, (long)&place);
  printf("\"none\":[],\"variadic\":[%lu],\"local\":[-13]}\n", (long)path);
  wait_for_exit();
}
