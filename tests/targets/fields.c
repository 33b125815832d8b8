// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// fields
//
// Functions whose parameters and results lead to fields of all kinds. The JSON has, for each function, the values of
// the paths at each of its calls, by the text of the path; null where a pointer on the way cannot be read.
#include "tests/targets/fields.h"

#include "stdin_protocol.h"

#ifdef __clang__
#define KEPT __attribute__((noinline, minsize, used))
#else
#define KEPT __attribute__((noipa, used))
#endif

volatile long sink;

KEPT void handle(struct request* request, int n) { sink = request->id + n; }
KEPT void elements(item* items, int** pp, int (*rows)[3], struct large by_value, double* ratio) {
  sink = items[1].weight + **pp + rows[1][2] + by_value.n[0] + (long)*ratio;
}
KEPT struct request* made(struct request* request) {
  sink++;
  return request;
}
KEPT void erased(void* context, unsigned long number) { sink = (long)context + (long)number; }
KEPT struct large filled(long n) {
  sink++;
  return (struct large){{n, n + 1, n + 2, -n}};
}

static void print_handled(const struct request* r, const char* separator) {
  printf("%s{\"arg.request->id\":%u,\"arg.request->delta\":%d,\"arg.request->wide\":%lu,",
         separator, r->id, r->delta, (unsigned long)r->wide);
  printf("\"arg.request->urgent\":%d,\"arg.request->grade\":%d,\"arg.request->octet\":%u,",
         r->urgent, r->grade, r->octet);
  printf("\"arg.request->state\":%d,\"arg.request->level\":%d,\"arg.request->uri.len\":%lu,",
         (int)r->state, (int)r->level, r->uri.len);
  printf("\"str(arg.request->uri.text)\":\"%s\",\"str(arg.request->label)\":\"%s\",", r->uri.text,
         r->label);
  printf("\"arg.request->inner\":%d,\"arg.request->number\":%u,\"arg.request->bytes[1]\":%d,",
         r->inner, r->number, r->bytes[1]);
  printf("\"arg.request->list[3].weight\":%d,\"str(arg.request->list[1].name)\":\"%s\",",
         r->list[3].weight, r->list[1].name);
  printf("\"arg.request->grid[1][2]\":%d,\"arg.request->label[2]\":%d,", r->grid[1][2],
         r->label[2]);
  printf("\"arg.request->other\":%lu,\"arg0->grid\":%lu,", (unsigned long)r->other,
         (unsigned long)r->grid);
  printf("\"arg.request->ratio\":%.17g,", r->ratio);
  if (r->next)
    printf("\"arg.request->next->id\":%u,\"arg.request->next->other->len\":%lu}", r->next->id,
           r->next->other->len);
  else
    printf("\"arg.request->next->id\":null,\"arg.request->next->other->len\":null}");
}

int main(void) {
  ready_and_wait_for_go();
  struct uri other = {"elsewhere", 77};
  struct request last = {.id = 17,
                         .delta = -64,
                         .wide = 0xfedcba9876,
                         .grade = -100,
                         .octet = 200,
                         .state = IDLE,
                         .level = LOW,
                         .uri = {"/last", 5},
                         .other = &other,
                         .inner = -9,
                         .number = 0x8101,
                         .list = {{"a", 1}, {"bee", -2}, {"c", 3}, {"d", -32768}},
                         .grid = {{1, 2, 3}, {4, 5, -6}},
                         .label = "label",
                         .ratio = -0.125};
  struct request first = {.id = 31,
                          .delta = 63,
                          .wide = 1,
                          .urgent = 1,
                          .grade = 100,
                          .octet = 255,
                          .state = RUNNING,
                          .level = HIGH,
                          .uri = {"/first/of/all", 13},
                          .other = &other,
                          .inner = 9,
                          .number = 0x7f01,
                          .list = {{"x", 1}, {"why", 2}, {"z", 3}, {"", 4}},
                          .grid = {{-1, -2, -3}, {-4, -5, 600}},
                          .label = "fifteen letters",
                          .ratio = 1e100,
                          .next = &last};
  item items[2] = {{"zero", 10}, {"one", 11}};
  int value = -5, *pointer = &value, rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
  double ratio = 0.5;
  handle(&first, 1);
  handle(&last, 2);
  elements(items, &pointer, rows, (struct large){{1}}, &ratio);
  erased(&first, (unsigned long)&other);
  struct request* back = made(&first);
  const struct large large = filled(40);
  print_handled(&first, "done\n{\"handle\":[");
  print_handled(&last, ",");
  printf("],\"elements\":[{\"arg.items[1].weight\":%d,\"arg.items->weight\":%d,", items[1].weight,
         items->weight);
  printf("\"**arg.pp\":%d,\"*arg.pp[0]\":%d,\"arg1[0][0]\":%d,\"arg.rows[1][2]\":%d,", **&pointer,
         *pointer, *pointer, rows[1][2]);
  printf("\"*arg.ratio\":%g}],", ratio);
  printf("\"erased\":[{\"((struct request *)arg.context)->id\":%u,", first.id);
  printf("\"((struct request *)arg0)->next->uri.len\":%lu,", last.uri.len);
  printf("\"str(((struct uri *)arg.number)->text)\":\"%s\",", other.text);
  printf("\"((struct request *)arg0)->list[1].weight\":%d}],", first.list[1].weight);
  printf(
      "\"made\":[{\"retval->id\":%u,\"str(retval->uri.text)\":\"%s\",\"retval->next->wide\":%lu}],",
      back->id, back->uri.text, (unsigned long)back->next->wide);
  printf("\"filled\":[{\"retval.n[2]\":%ld,\"retval.n[3]\":%ld}]}\n", large.n[2], large.n[3]);
  wait_for_exit();
}
