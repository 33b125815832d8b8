// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// fields_more
//
// Kinds of fields beyond those of fields.c, as bpftrace tests them for programs: packed and wide bit fields, unions within
// each other, arrays of enumerations and of more dimensions, typedefs of typedefs, pointers to functions. The JSON has, for
// each function, the values of the paths at each of its calls.
#include <stdbool.h>

#include "stdin_protocol.h"

#ifdef __clang__
#define KEPT __attribute__((noinline, minsize, used))
#else
#define KEPT __attribute__((noipa, used))
#endif

volatile long sink;

enum color { RED = -2, GREEN, BLUE = 40 };
enum big { NONE, LARGE = 0x7fffffff };
typedef enum color paint_t;
typedef const volatile paint_t seen_paint_t;

struct __attribute__((packed)) packed_bits {
  unsigned char head : 3;
  unsigned int across : 13;  // from byte to byte
  signed int below : 7;
  unsigned long far : 41;
  bool last : 1;
  short after;
};

union number {
  struct {
    unsigned low : 4, high : 28;
  } bits;
  unsigned whole;
  float real;
  unsigned char bytes[4];
};

struct more {
  struct packed_bits packed;
  union number number;
  union {
    struct {
      short x, y;
    };
    int both;
    union number again;
  };
  paint_t paints[3];
  seen_paint_t seen;
  enum big size;
  long cube[2][3][4];
  char names[3][8];
  int (*call)(int);
  const char* const* words;
  struct more* next[2];
  unsigned long whole : 64;
  long negative : 63;
  bool flags[4];
  float exact;
  double rows[2][2];
  _Atomic int counted;
  unsigned char octets[];
};

KEPT void see(struct more* more, const struct more* const volatile* list, union number number) {
  sink = more->number.whole + list[1]->number.whole + number.whole;
}
KEPT void scalars(signed char tiny, unsigned char octet, short s, unsigned short u, bool yes,
                  paint_t paint, const long* pointer, int matrix[2][3]) {
  sink = tiny + octet + s + u + yes + (int)paint + *pointer + matrix[1][1];
}

static int called(int n) { return n + 1; }

static void print_more(const struct more* m, const char* end) {
  printf("{\"arg.more->packed.head\":%u,\"arg.more->packed.across\":%u,", m->packed.head,
         m->packed.across);
  printf("\"arg.more->packed.below\":%d,\"arg.more->packed.far\":%lu,", m->packed.below,
         (unsigned long)m->packed.far);
  printf("\"arg.more->packed.last\":%d,\"arg.more->packed.after\":%d,", m->packed.last,
         m->packed.after);
  printf("\"arg.more->number.bits.low\":%u,\"arg.more->number.bits.high\":%u,", m->number.bits.low,
         m->number.bits.high);
  printf("\"arg.more->number.whole\":%u,\"arg.more->number.bytes[3]\":%u,", m->number.whole,
         m->number.bytes[3]);
  printf("\"arg.more->x\":%d,\"arg.more->y\":%d,\"arg.more->both\":%d,", m->x, m->y, m->both);
  printf("\"arg.more->again.bits.high\":%u,", m->again.bits.high);
  printf("\"arg.more->paints[0]\":%d,\"arg.more->paints[2]\":%d,\"arg.more->seen\":%d,",
         (int)m->paints[0], (int)m->paints[2], (int)m->seen);
  printf("\"arg.more->size\":%u,\"arg.more->cube[1][2][3]\":%ld,\"arg.more->cube[0][1][0]\":%ld,",
         (unsigned)m->size, m->cube[1][2][3], m->cube[0][1][0]);
  printf("\"str(arg.more->names[2])\":\"%s\",\"arg.more->names[1][0]\":%d,", m->names[2],
         m->names[1][0]);
  printf("\"arg.more->call\":%lu,\"str(arg.more->words[1])\":\"%s\",", (unsigned long)m->call,
         m->words[1]);
  printf("\"arg.more->next[1]->number.whole\":%u,\"arg.more->whole\":%lu,",
         m->next[1]->number.whole, (unsigned long)m->whole);
  printf("\"arg.more->negative\":%ld,\"arg.more->flags[3]\":%d,", (long)m->negative, m->flags[3]);
  printf("\"arg.more->exact\":%g,\"arg.more->rows[1][0]\":%.17g,", (double)m->exact, m->rows[1][0]);
  printf("\"arg.more->counted\":%d,\"arg.more->octets[1]\":%u,\"arg0->octets\":%lu,", m->counted,
         m->octets[1], (unsigned long)m->octets);
  printf("\"arg.list[1]->packed.across\":%u,\"arg.more->next[0]->next[1]->both\":%d}%s",
         m->packed.across, m->next[0]->next[1]->both, end);
}

static struct more* filled(int sign) {
  static const char* const words[] = {"first", "second word"};
  struct more* m = calloc(1, sizeof(*m) + 4);
  m->packed =
      (struct packed_bits){5, 0x1abc, -60 * sign, 0x1fedcba9876, true, (short)(-300 * sign)};
  m->number.whole = 0xfedcba98;
  m->x = (short)(-7 * sign);
  m->y = 11;
  m->paints[0] = RED;
  m->paints[2] = sign > 0 ? BLUE : GREEN;
  *(paint_t*)&m->seen = sign > 0 ? GREEN : BLUE;
  m->size = LARGE;
  m->cube[1][2][3] = -123456789012 * sign;
  m->cube[0][1][0] = 17;
  snprintf(m->names[2], 8, "name %d", sign);
  m->names[1][0] = -3;
  m->call = called;
  m->words = words;
  m->next[0] = m->next[1] = m;
  m->whole = 0xfedcba9876543210;
  m->negative = -1L * sign;
  m->flags[3] = sign > 0;
  m->counted = -5;
  m->exact = 1.5f * (float)sign;
  m->rows[1][0] = 0.1 * sign;
  m->octets[1] = 250;
  return m;
}

int main(void) {
  ready_and_wait_for_go();
  struct more *first = filled(1), *second = filled(-1);
  const struct more* list[2] = {second, first};
  const struct more* others[2] = {first, second};
  const long eight = -8;
  int matrix[2][3] = {{1, 2, 3}, {4, -5, 6}};
  see(first, list, first->number);
  see(second, others, first->number);
  scalars(-1, 255, -300, 65535, true, RED, &eight, matrix);
  printf("done\n{\"see\":[");
  print_more(first, ",");
  print_more(second, "],");
  printf("\"scalars\":[{\"arg.tiny\":-1,\"arg.octet\":255,\"arg.s\":-300,\"arg.u\":65535,");
  printf("\"arg.yes\":1,\"arg.paint\":-2}]}\n");
  wait_for_exit();
}
