// build: -O2 -g -pthread -fcf-protection=none -Wno-infinite-recursion
// SPDX-License-Identifier: BSD-2-Clause
//
// graph_tree THREADS ROUNDS LOG [PAUSE_US]
//
// THREADS threads at once call tree_root ROUNDS times each, every time with another seed, which decides the
// shape: 30 functions tree_00 to tree_29 below it, nested 8 deep. PAUSE_US after each round. Then LOG lists
// the calls, with a line for each thread, `TID TREE TREE...`:
//
//     root(00(03()*7;)02(08(09()!)!10())...)   the calls of a call are in its parentheses
//     !       after them: the call was unwound, by an exception or by longjmp
//     >14()   entered by a tail call. Its caller has ended, so both are side by side, as for a tracer
//             for which a call ends at each exit of the function. For a tracer that replaces the
//             return address, it ends within the call before it.
//     *7;     usdt tree:mark, and its argument
//
// Expect: the names of functions are those of symbols; tree_15 and tree_16 are virtual members.
// `checksum` of a thread: over the results of tree_root, in order, sum = sum * 1099511628211 + result.
#include <sys/syscall.h>
#include <tracectl/usdt.h>
#include <unistd.h>

#include <cinttypes>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "stdin_protocol.h"

#define TRACED extern "C" __attribute__((noipa, used))
#define INLINED __attribute__((always_inline)) static inline

TRACECTL_PROBE_DECLARE(tree, mark, (int, number));

// ---- the log: written by the functions themselves, into memory allocated before ----

enum class Kind : uint8_t {
  entered,
  left,    // by a return
  jumped,  // left by a jump to the function entered next
  landed,  // back in this function after unwinding
  marked,
};

struct Entry {
  Kind kind;
  uint8_t value;  // the number of the function or of the mark
};

constexpr int kFunctions = 30;
constexpr int kRoot = kFunctions;
constexpr size_t kMostEntries = 1024;  // for one round

static thread_local Entry* next_entry;

INLINED void note(Kind kind, int value = 0) { *next_entry++ = {kind, uint8_t(value)}; }

#define ENTER(number) note(Kind::entered, number)
#define LEAVE(value)             \
  do {                           \
    const int result_ = (value); \
    note(Kind::left);            \
    return result_;              \
  } while (false)

// Small, so that nothing overflows.
INLINED int mix(int a, int b) { return (a * 31 + b) & 0xffff; }

// ---- leaves ----

TRACED int tree_29(int a) {  // called by many
  ENTER(29);
  LEAVE(a ^ 5);
}

TRACED int tree_19(int a) {
  ENTER(19);
  int sum = 1;
  for (int i = 0; i < (a & 7); ++i) sum = mix(sum, i);
  LEAVE(sum);
}

TRACED int tree_26(int a) {  // calls the C library, which is not traced
  static const char* const kWords[] = {"oak", "birch", "hornbeam"};
  ENTER(26);
  const char* word = kWords[a % 3];
  const size_t length = strlen(word);
  char* reversed = static_cast<char*>(malloc(length + 1));
  for (size_t i = 0; i < length; ++i) reversed[i] = word[length - 1 - i];
  reversed[length] = 0;
  const int sum = mix(int(strlen(reversed)), reversed[0]);
  free(reversed);
  LEAVE(sum);
}

// ---- recursion ----

TRACED int tree_18(int a) {
  ENTER(18);
  int sum = a;
  for (int i = 0; i < 1 + a % 2; ++i) sum = mix(sum, tree_19(a + i));
  LEAVE(sum);
}

TRACED int tree_12(int depth) {
  ENTER(12);
  if (depth == 0) LEAVE(tree_18(1));
  LEAVE(mix(depth, tree_12(depth - 1)));
}

TRACED int tree_27(int depth);

TRACED int tree_28(int depth) {
  ENTER(28);
  if (depth == 0) LEAVE(3);
  LEAVE(mix(depth, tree_27(depth - 1)));
}

TRACED int tree_27(int depth) {  // alternates with tree_28
  ENTER(27);
  if (depth == 0) LEAVE(tree_29(depth));
  LEAVE(mix(tree_28(depth - 1), depth));
}

TRACED int tree_24(int a) {
  ENTER(24);
  int sum = a;
  for (int i = 0; i < 1 + a % 2; ++i) sum = mix(sum, tree_27(i + a % 3));
  LEAVE(sum);
}

// ---- virtual functions ----

TRACED int tree_25(int a) {
  ENTER(25);
  LEAVE(mix(tree_29(a), tree_29(a + 1)));
}

struct Node {
  virtual int visit(int a) asm("tree_15");
};

struct Fork : Node {
  int visit(int a) override asm("tree_16");
};

__attribute__((noipa)) int Node::visit(int a) {
  ENTER(15);
  LEAVE(mix(a, tree_24(a)));
}

__attribute__((noipa)) int Fork::visit(int a) {
  ENTER(16);
  const int sum = tree_24(a + 1);
  LEAVE(mix(sum, tree_25(a)));
}

static Node node;
static Fork fork_node;
static Node* const kNodes[] = {&node, &fork_node};

TRACED int tree_06(int a) {
  ENTER(6);
  int sum = a;
  for (int i = 0; i < 1 + a % 2; ++i) sum = mix(sum, kNodes[(a / 2 + i) % 2]->visit(a));
  LEAVE(sum);
}

// ---- a tail call ----

TRACED int tree_23(int a) {
  ENTER(23);
  LEAVE(mix(tree_19(a), tree_29(a)));
}

TRACED int tree_14(int a) {  // entered only by a jump
  ENTER(14);
  LEAVE(a % 2 ? tree_23(a) : a);
}

TRACED int tree_05(int a) {
  ENTER(5);
  const int next = mix(a, tree_29(a));
  note(Kind::jumped);
  return tree_14(next);
}

// ---- a mark ----

TRACED int tree_17(int a) {
  ENTER(17);
  int sum = tree_26(a);
  note(Kind::marked, a % 200);
  TRACECTL_PROBE(tree, mark, a % 200);
  LEAVE(mix(sum, tree_29(a)));
}

TRACED int tree_07(int a) {
  ENTER(7);
  LEAVE(mix(a, tree_17(a)));
}

// ---- left by an exception; another call follows from the same frame ----

TRACED int tree_10(int a) {
  ENTER(10);
  LEAVE(a % 3 ? tree_29(a) : a);
}

TRACED int tree_09(int a) {
  ENTER(9);
  const int sum = tree_10(a);
  if (a % 3 != 1) throw sum;
  LEAVE(sum);
}

TRACED int tree_08(int a) {
  ENTER(8);
  LEAVE(mix(tree_09(a), a));
}

TRACED int tree_02(int a) {
  ENTER(2);
  int sum;
  try {
    sum = tree_08(a);
  } catch (int thrown) {
    note(Kind::landed, 2);
    sum = thrown + 1;
  }
  LEAVE(mix(sum, tree_10(a + 1)));
}

// ---- left by longjmp ----

static thread_local jmp_buf back;

TRACED int tree_22(int a) {
  ENTER(22);
  const int sum = tree_29(a);
  if (a % 4 != 2) longjmp(back, 1 + sum);
  LEAVE(sum);
}

TRACED int tree_21(int a) {
  ENTER(21);
  LEAVE(mix(tree_22(a), tree_10(a)));
}

TRACED int tree_20(int a) {
  ENTER(20);
  int sum = setjmp(back);
  if (sum == 0)
    sum = tree_21(a);
  else
    note(Kind::landed, 20);
  LEAVE(mix(sum, tree_10(sum)));
}

// ---- the functions nearest to the root ----

TRACED int tree_11(int a) {
  ENTER(11);
  LEAVE(a % 2 ? tree_18(a) : mix(a, 11));
}

TRACED int tree_03(int a) {
  ENTER(3);
  const int sum = tree_11(a);
  LEAVE(mix(sum, tree_12(a / 2 % 4)));
}

TRACED int tree_04(int a) {
  ENTER(4);
  LEAVE(mix(a, tree_11(a + 1)));
}

TRACED int tree_00(int a) {
  ENTER(0);
  int sum = tree_03(a);
  for (int i = 0; i < a % 3; ++i) sum = mix(sum, tree_04(a + i));
  LEAVE(sum);
}

static int (*const kTable[])(int) = {tree_05, tree_06, tree_07};

TRACED int tree_01(int a) {
  ENTER(1);
  int sum = tree_04(a);
  for (int i = 0; i < 2; ++i) sum = mix(sum, kTable[(a + i) % 3](a + i));
  LEAVE(sum);
}

TRACED int tree_13(int a) {
  ENTER(13);
  int sum = a;
  for (int i = 0; i < 1 + a % 2; ++i) sum = mix(sum, tree_20(a + i));
  LEAVE(sum);
}

TRACED int tree_root(int seed) {
  ENTER(kRoot);
  int sum = seed & 0xff;
  for (int i = 0; i < 1 + seed % 3; ++i) sum = mix(sum, tree_00(seed + i));
  sum = mix(sum, tree_01(seed / 3));
  sum = mix(sum, tree_02(seed / 5));
  LEAVE(mix(sum, tree_13(seed / 7)));
}

// ---- output of the log ----

struct Thread {
  pid_t tid = 0;
  std::vector<Entry> log;
  uint64_t checksum = 0;
  uint64_t calls = 0, unwound = 0, marks = 0;
};

// `open` has the open calls, the innermost last.
struct Teller {
  Thread& thread;
  std::string text = {};
  std::vector<int> open = {};
  bool is_jump = false;  // the next call is entered by a jump

  void enter(int function) {
    ++thread.calls;
    if (open.empty()) text += ' ';
    if (is_jump) text += '>';
    is_jump = false;
    const std::string number = std::to_string(100 + function).substr(1);
    text += (function == kRoot ? "root" : number) + '(';
    open.push_back(function);
  }

  void close() {
    text += ')';
    open.pop_back();
  }

  void land(int function) {
    while (open.back() != function) {
      close();
      text += '!';
      ++thread.unwound;
    }
  }

  void mark(int number) {
    ++thread.marks;
    text += '*' + std::to_string(number) + ';';
  }

  void tell(Entry entry) {
    switch (entry.kind) {
      case Kind::entered: return enter(entry.value);
      case Kind::left: return close();
      case Kind::jumped: is_jump = true; return close();
      case Kind::landed: return land(entry.value);
      case Kind::marked: return mark(entry.value);
    }
  }
};

static void write_log(Thread& thread, FILE* file) {
  Teller teller{thread};
  for (const Entry entry : thread.log) teller.tell(entry);
  fprintf(file, "%d%s\n", thread.tid, teller.text.c_str());
}

// Scattered, so that threads and rounds differ.
static int seed_of(uint32_t number) { return int((number * 2654435761u) >> 12); }

static void work(Thread& thread, uint32_t first, uint32_t step, useconds_t pause_us,
                 std::latch& begin) {
  thread.tid = pid_t(syscall(SYS_gettid));
  next_entry = thread.log.data();
  const size_t rounds = thread.log.size() / kMostEntries;
  begin.arrive_and_wait();
  for (size_t round = 0; round < rounds; ++round) {
    const Entry* const before = next_entry;
    const int result = tree_root(seed_of(first + uint32_t(round) * step));
    if (size_t(next_entry - before) > kMostEntries) abort();
    thread.checksum = thread.checksum * 1099511628211u + uint64_t(result);
    if (pause_us) usleep(pause_us);
  }
  thread.log.resize(size_t(next_entry - thread.log.data()));
}

static void print(const std::vector<Thread>& threads) {
  const char* separator = "done\n{\"threads\":[";
  for (const Thread& one : threads) {
    printf("%s{\"tid\":%d,\"calls\":%" PRIu64 ",\"unwound\":%" PRIu64 ",\"marks\":%" PRIu64
           ",\"checksum\":%" PRIu64 "}",
           separator, one.tid, one.calls, one.unwound, one.marks, one.checksum);
    separator = ",";
  }
  printf("]}\n");
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int count = atoi(argv[1]);
  const size_t rounds = strtoul(argv[2], nullptr, 10);
  const useconds_t pause_us = argc > 4 ? useconds_t(atoi(argv[4])) : 0;
  std::vector<Thread> logs(static_cast<size_t>(count));
  for (Thread& one : logs) one.log.resize(rounds * kMostEntries);
  ready_and_wait_for_go();

  std::latch begin(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(work, std::ref(logs[size_t(i)]), uint32_t(i), uint32_t(count), pause_us,
                         std::ref(begin));
  for (std::thread& one : threads) one.join();

  FILE* file = fopen(argv[3], "w");
  if (!file) return 1;
  for (Thread& one : logs) write_log(one, file);
  fclose(file);
  print(logs);
  wait_for_exit();
}
