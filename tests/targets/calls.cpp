// build: -O2 -g -pthread -fcf-protection=none -fno-ipa-sra -fno-ipa-cp -fno-inline -Wno-infinite-recursion
// SPDX-License-Identifier: BSD-2-Clause
//
// calls ROUNDS
//
// Functions that are left in every possible way, on two threads at once. Each counts its calls, those that
// returned, and those that were left otherwise; `times` has the least and the greatest time that the calls of
// a function can have taken, by clocks within and around it.
#include <cinttypes>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <ucontext.h>

#include "stdin_protocol.h"

#define TRACED extern "C" __attribute__((noinline, noipa, used))

struct Tally {
  uint64_t calls = 0, returns = 0, unwound = 0;
};
static thread_local std::map<std::string, Tally>* tallies;
static std::map<std::string, Tally> total;
static std::mutex total_lock;
static uint64_t checksum;

static void called(const char* name) { ++(*tallies)[name].calls; }
static void returned(const char* name, uint64_t calls = 1) { (*tallies)[name].returns += calls; }
static void unwound(const char* name, uint64_t calls = 1) { (*tallies)[name].unwound += calls; }

static uint64_t now() {
  timespec ts;
  clock_gettime(CLOCK_BOOTTIME, &ts);
  return uint64_t(ts.tv_sec) * 1000000000 + uint64_t(ts.tv_nsec);
}

// ---- plain ----

TRACED int calls_leaf(int a) { return a * 2 - 3; }

TRACED int calls_loop(int n) {  // a leaf with a loop
  int sum = 0;
  for (int i = 0; i < n; ++i) sum = sum * 31 + i;
  return sum;
}

TRACED int64_t calls_recurse(int depth) {
  called("calls_recurse");
  int64_t sum = depth ? calls_recurse(depth - 1) + depth : 1;
  returned("calls_recurse");
  return sum;
}

// ---- times ----

static uint64_t least_parent, most_parent, least_child, most_child;

TRACED void calls_child(uint64_t ns) {
  const uint64_t begun = now();
  while (now() - begun < ns) {}
  least_child += now() - begun;
}

TRACED void calls_parent(uint64_t ns) {
  const uint64_t begun = now();
  while (now() - begun < ns) {}
  const uint64_t before = now();
  calls_child(ns / 2);
  most_child += now() - before;
  least_parent += now() - begun;
}

// ---- left by exceptions ----

TRACED int calls_throw(int depth, int by) {
  called("calls_throw");
  if (depth == 0) {
    if (by & 1) throw by;
    returned("calls_throw");
    return by;
  }
  const int result = calls_throw(depth - 1, by) + 1;
  returned("calls_throw");
  return result;
}

TRACED int calls_catch(int depth, int by) {
  called("calls_catch");
  int result;
  try {
    result = calls_throw(depth, by);
  } catch (int thrown) {
    unwound("calls_throw", uint64_t(depth) + 1);
    result = -thrown;
  }
  returned("calls_catch");
  return result;
}

// ---- left by longjmp ----

static thread_local jmp_buf back;

TRACED int calls_jump(int depth) {
  called("calls_jump");
  if (depth == 0) longjmp(back, 1);
  const int result = calls_jump(depth - 1) + 1;
  returned("calls_jump");
  return result;
}

TRACED int calls_land(int depth) {
  called("calls_land");
  if (setjmp(back) == 0)
    calls_jump(depth);
  else
    unwound("calls_jump", uint64_t(depth) + 1);
  returned("calls_land");
  return depth;
}

// ---- tail calls ----

TRACED int calls_tail_end(int a) {
  called("calls_tail_end");
  returned("calls_tail_end");
  return a + 7;
}

TRACED int calls_tail(int a) {
  called("calls_tail");
  returned("calls_tail");
  return calls_tail_end(a * 3);
}

// Leaves by a conditional jump, and by a return.
asm(".pushsection .text\n.globl calls_tail_if\n.type calls_tail_if, %function\n"
#ifdef __x86_64__
    "calls_tail_if:\n test %edi, %edi\n jne calls_tail_end\n mov $5, %eax\n ret\n"
#else
    "calls_tail_if:\n cmp w0, #0\n b.ne calls_tail_end\n mov w0, #5\n ret\n"
#endif
    ".size calls_tail_if, . - calls_tail_if\n.popsection\n");
extern "C" int calls_tail_if(int a);

// ---- coroutines ----

enum { kCoroutines = 5, kStackBytes = 64 << 10 };

struct Coroutines {
  ucontext_t scheduler, each[kCoroutines];
  char stacks[kCoroutines][kStackBytes];
  int64_t sum = 0;
};
static thread_local Coroutines* coroutines;

TRACED void calls_yield(int self) {
  called("calls_yield");
  swapcontext(&coroutines->each[self], &coroutines->scheduler);
  returned("calls_yield");
}

TRACED int calls_descend(int self, int depth) {
  called("calls_descend");
  calls_yield(self);
  const int result = depth ? calls_descend(self, depth - 1) + 1 : self;
  calls_yield(self);
  returned("calls_descend");
  return result;
}

static void coroutine(int self) { coroutines->sum += calls_descend(self, 3); }

static void run_coroutines() {
  for (int i = 0; i < kCoroutines; ++i) {
    ucontext_t& one = coroutines->each[i];
    getcontext(&one);
    one.uc_stack.ss_sp = coroutines->stacks[i];
    one.uc_stack.ss_size = kStackBytes;
    one.uc_link = &coroutines->scheduler;
    makecontext(&one, reinterpret_cast<void (*)()>(coroutine), 1, i);
  }
  for (int step = 0; step < 9; ++step)
    for (ucontext_t& one : coroutines->each) swapcontext(&coroutines->scheduler, &one);
}

// ---- stacks that are moved ----

static thread_local char* small_top;
static thread_local char* great_top;

#ifdef __x86_64__
// Copies its caller's part of the stack, up to `top`, to another stack and continues there.
asm(".pushsection .text\n"
    "move_stack:\n"  // rdi: top of the old stack, rsi: top of the new one
    " mov %rdi, %rcx\n sub %rsp, %rcx\n mov %rsp, %rax\n"
    " mov %rsi, %rdx\n sub %rcx, %rdx\n mov %rdx, %r8\n"
    " mov %rdx, %rdi\n mov %rax, %rsi\n rep movsb\n"
    " mov %r8, %rsp\n ret\n"
    // on_stack(rdi: stack top, rsi: function): calls it there
    "on_stack:\n push %rbp\n mov %rsp, %rbp\n push %rbx\n mov %rsp, %rbx\n mov %rdi, %rsp\n"
    " push %rbx\n push %rbx\n call *%rsi\n pop %rbx\n mov %rbx, %rsp\n pop %rbx\n pop %rbp\n ret\n"
    ".popsection\n");
extern "C" void move_stack(char* from_top, char* to_top);
extern "C" int on_stack(char* top, int (*function)());

TRACED int calls_moved() {
  called("calls_moved");
  move_stack(small_top, great_top);
  returned("calls_moved");
  return 11;
}

TRACED int calls_mover() {
  called("calls_mover");
  const int result = calls_moved() + 1;
  returned("calls_mover");
  return result;
}
#endif

// ---- threads that end within calls ----

TRACED void calls_last(int depth) {
  if (depth == 0) pthread_exit(nullptr);
  calls_last(depth - 1);
  asm volatile("");
}

static void add_tallies() {
  const std::lock_guard lock(total_lock);
  for (const auto& [name, one] : *tallies) {
    total[name].calls += one.calls;
    total[name].returns += one.returns;
    total[name].unwound += one.unwound;
  }
  delete tallies;
}

static void* end_within(void*) {
  tallies = new std::map<std::string, Tally>;
  for (int i = 0; i < 3; ++i) called("calls_last"), unwound("calls_last");
  add_tallies();
  calls_last(2);
  return nullptr;
}

static void work(int rounds) {
  tallies = new std::map<std::string, Tally>;
  coroutines = new Coroutines;
  std::vector<char> small(kStackBytes), great(kStackBytes);
  small_top = reinterpret_cast<char*>(uintptr_t(small.data() + kStackBytes) & ~uintptr_t{63});
  great_top = reinterpret_cast<char*>(uintptr_t(great.data() + kStackBytes) & ~uintptr_t{63});
  uint64_t sum = 0;
  const auto mix = [&](int64_t value) { sum = sum * 1099511628211u + uint64_t(value); };
  for (int i = 0; i < rounds; ++i) {
    called("calls_leaf"), mix(calls_leaf(i)), returned("calls_leaf");
    called("calls_loop"), mix(calls_loop(i & 15)), returned("calls_loop");
    mix(calls_recurse(i % 40));
    mix(calls_catch(i % 6, i));
    mix(calls_land(i % 5));
    mix(calls_tail(i));
    called("calls_tail_if"), mix(calls_tail_if(i & 1)), returned("calls_tail_if");
    if (i % 8 == 0) run_coroutines(), mix(coroutines->sum);
#ifdef __x86_64__
    mix(on_stack(small_top, calls_mover));
#endif
    if (i % 16 == 0) {
      pthread_t thread;
      pthread_create(&thread, nullptr, end_within, nullptr);
      pthread_join(thread, nullptr);
    }
  }
  delete coroutines;
  add_tallies();
  const std::lock_guard lock(total_lock);
  checksum += sum;
}

static void measure() {
  for (int i = 0; i < 20; ++i) {
    const uint64_t before = now();
    calls_parent(200000);
    most_parent += now() - before;
  }
}

static void print() {
  printf("done\n{\"checksum\":%" PRIu64 ",\"functions\":{", checksum);
  const char* separator = "";
  for (const auto& [name, one] : total) {
    printf("%s\"%s\":{\"calls\":%" PRIu64 ",\"returns\":%" PRIu64 ",\"unwound\":%" PRIu64 "}",
           separator, name.c_str(), one.calls, one.returns, one.unwound);
    separator = ",";
  }
  printf("},\"times\":{\"calls_parent\":[%" PRIu64 ",%" PRIu64 "],\"calls_child\":[%" PRIu64
         ",%" PRIu64 "]}}\n",
         least_parent, most_parent, least_child, most_child);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 0;
  ready_and_wait_for_go();
  measure();
  std::thread one(work, rounds), other(work, rounds);
  one.join();
  other.join();
  print();
  wait_for_exit();
}
