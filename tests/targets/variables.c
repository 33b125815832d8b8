// build: -O0 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// variables
//
// Lines whose variables are compared with what the program records there itself: the comment before a RECORD has the
// expressions for its values. The JSON has, by line, the values of each time that it was executed.
#include <stddef.h>
#include <string.h>

#include "stdin_protocol.h"

#ifdef __clang__
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noipa, used))
#endif

enum mood { CALM, ANGRY = 5 };
struct point {
  int x, y;
};
struct shape {
  const char* name;
  struct point at;
  enum mood mood;
  unsigned kind : 3;
  int weight : 9;
  long sizes[3];
  struct shape* next;
};

enum { MOST_RECORDS = 400, MOST_LINES = 400, VALUES = 4 };
static struct {
  int line;
  long values[VALUES];
} records[MOST_RECORDS];
static int record_count;
static long total = 7;

KEPT void record(int line, long a, long b, long c, long d) {
  if (record_count == MOST_RECORDS) return;
  records[record_count].line = line;
  const long values[VALUES] = {a, b, c, d};
  memcpy(records[record_count++].values, values, sizeof values);
}

KEPT void change(void* bytes) { (*(char*)bytes)++; }

#define RECORD(a, b, c, d) record(__LINE__, (long)(a), (long)(b), (long)(c), (long)(d))

KEPT long parameters(int small, unsigned char octet, const struct shape* shape, long wide) {
  // var.small, var.octet, var.shape->at.x, var.wide
  RECORD(small, octet, shape->at.x, wide);
  small *= 3;
  // var.small, var.octet, var.shape->at.y, var.wide
  RECORD(small, octet, shape->at.y, wide);
  change(&wide);
  // var.small, var.octet, var.shape->mood, var.shape->weight
  RECORD(small, octet, shape->mood, shape->weight);
  return small + octet + wide;
}

KEPT long many(long a, long b, long c, long d, long e, long f, long g, short h) {
  // var.a, var.f, var.g, var.h
  RECORD(a, f, g, h);
  g += h;
  // var.b, var.e, var.g, var.h
  RECORD(b, e, g, h);
  return a + b + c + d + e + f + g + h;
}

KEPT long by_value(struct point small, struct shape large, long n) {
  // var.small.x, var.small.y, var.large.at.y, var.n
  RECORD(small.x, small.y, large.at.y, n);
  change(&small);
  change(&large);
  // var.small.x, var.large.sizes[1], var.large.next->at.x, var.large.kind
  RECORD(small.x, large.sizes[1], large.next->at.x, large.kind);
  return small.x + large.at.x + n;
}

static inline long squared(long n) {
  long product = n * n;
  // var.product, var.n, var.total
  RECORD(product, n, total, 0);
  return product;
}

KEPT long loops(int rounds) {
  static long calls;
  long sum = 0;
  calls++;
  for (int i = 0; i < rounds; ++i) {
    const long before = sum;
    sum += squared(i);
    // var.i, var.sum, var.before, var.rounds
    RECORD(i, sum, before, rounds);
    if (i % 2) {
      // var.i, var.sum, var.calls
      RECORD(i, sum, calls, 0);
      long sum = -i;
      change(&sum);
      // var.i, var.sum, var.calls, var.total
      RECORD(i, sum, calls, total);
    }
  }
  total += sum;
  // var.sum, var.calls, var.total
  RECORD(sum, calls, total, 0);
  return sum + squared(total);
}

// In one line, which begins before the frame is complete.
#define DOUBLED           \
  {                       \
    long doubled = 2 * n; \
    change(&doubled);     \
    return doubled;       \
  }
KEPT long one_line(long n) DOUBLED

    // The line of the loop has two places.
    KEPT long counted(long n) {
  for (long left = n; left > 0; left--) {
    change(&n);
    n += left;
  }
  return n;
}

KEPT long locals(const struct shape* first) {
  struct shape copy = *first;
  char text[8] = "abc";
  const int constant = 12345;
  signed char tiny = (signed char)(first->at.x - 200);
  const struct shape* shape = first;
  change(&copy.at);
  change(text);
  // var.copy.at.x, var.text[0], var.constant, var.tiny
  RECORD(copy.at.x, text[0], constant, tiny);
  while (shape) {
    // var.shape->at.x, var.shape->sizes[2], var.shape->mood == ANGRY, var.tiny
    RECORD(shape->at.x, shape->sizes[2], shape->mood == ANGRY, tiny);
    shape = shape->next;
  }
  // var.copy.weight, var.copy.kind, var.text[1], var.copy.next->at.y
  RECORD(copy.weight, copy.kind, text[1], copy.next->at.y);
  return copy.at.x + text[0] + constant;
}

// The frame has a size that is known when it runs.
KEPT long varying(int n, long other) {
  long all[n];
  for (int i = 0; i < n; ++i) all[i] = other + i;
  change(all);
  // var.n, var.other
  RECORD(n, other, all[0], all[n - 1]);
  return all[0] + other;
}

KEPT long aligned(long n) {
  _Alignas(64) long wide[8] = {n, n + 1, n + 2};
  change(wide);
  // var.n, var.wide[0], var.wide[1], var.wide[2]
  RECORD(n, wide[0], wide[1], wide[2]);
  return wide[0] + n;
}

int main(void) {
  ready_and_wait_for_go();
  struct shape second = {"second", {-4, 50}, CALM, 5, -200, {1, 2, 3}, NULL};
  struct shape first = {"first", {300, -1}, ANGRY, 2, 100, {4, 5, -6}, &second};
  long sum = 0;
  for (int i = 0; i < 3; ++i) {
    sum += parameters(i - 1, (unsigned char)(250 + i), i % 2 ? &first : &second, 1L << (20 * i));
    sum += many(i, i + 1, i + 2, i + 3, -i, i - 5, 1L << 40, (short)(i - 2));
    sum += by_value((struct point){i, -i}, first, sum);
    sum += loops(i + 2);
    sum += locals(&first);
    sum += varying(i + 3, sum);
    sum += aligned(sum) + one_line(i) + counted(i);
  }
  printf("done\n{");
  for (int line = 0; line < MOST_LINES; ++line) {
    int count = 0;
    for (int i = 0; i < record_count; ++i) {
      if (records[i].line != line) continue;
      if (count++ == 0) printf("\"%d\":[", line);
      const long* v = records[i].values;
      printf("%s[%ld,%ld,%ld,%ld]", count > 1 ? "," : "", v[0], v[1], v[2], v[3]);
    }
    if (count) printf("],");
  }
  printf("\"sum\":%ld}\n", sum);
  wait_for_exit();
}
